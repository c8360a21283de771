import { expect, test } from "vitest";
import { parseFault } from "./fault";
import { junk } from "./message.sample";
import { parseMute } from "./sanction";

test("a fault has a code, words and details", () => {
  const details = { retry_after_ms: 700, until: 9, fields: [{ field: "text", code: "length" }], limit: "edits_max", reason: "no" };
  expect(parseFault({ code: "slow_mode", message: "wait", details })).toEqual({
    code: "slow_mode",
    message: "wait",
    retryAfterMs: 700,
    until: 9,
    broken: [{ field: "text", rule: "length" }],
    limit: "edits_max",
    reason: "no",
  });
});

test("who is refused before the messenger is asked learns why, and when to come back", () => {
  expect(parseFault({ reason: "overloaded", retry_after_ms: 1200 })).toMatchObject({ code: "overloaded", retryAfterMs: 1200 });
});

test("a fault without a word says so", () => {
  for (const response of junk) {
    expect(parseFault(response)).toMatchObject({ code: "unknown", message: "no reason given", broken: [] });
  }
});

test("of sanctions only mutes are read here", () => {
  expect(parseMute({ conversation: null, kind: "mute", until: null, on: true })).toEqual({
    conversation: undefined,
    on: true,
    until: undefined,
  });
  for (const payload of [...junk, { kind: "ban", on: true }]) expect(parseMute(payload)).toBeUndefined();
});
