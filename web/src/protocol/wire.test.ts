import { expect, test } from "vitest";
import { parseCount, parseMessage, parsePerson, parseReason } from "./wire";

const junk = [undefined, null, 7, "text", [], {}, new ArrayBuffer(2)];

test("a message has a name and a body, both text", () => {
  expect(parseMessage({ name: "Ann", body: "hi", more: 1 })).toEqual({ name: "Ann", body: "hi" });
  for (const payload of [...junk, { name: "Ann" }, { body: "hi" }, { name: 1, body: "hi" }]) {
    expect(parseMessage(payload)).toBeUndefined();
  }
});

test("a count is a whole number, not below zero", () => {
  expect(parseCount({ count: 501 })).toBe(501);
  for (const payload of [...junk, { count: -1 }, { count: 1.5 }, { count: "501" }]) {
    expect(parseCount(payload)).toBeUndefined();
  }
});

test("a person is called as their newest meta says", () => {
  expect(parsePerson("k", { metas: [{ name: "Old" }, { name: "New" }] })).toEqual({ key: "k", name: "New" });
  for (const entry of [...junk, { metas: [] }, { metas: [{}] }, { metas: "x" }, { metas: [null] }]) {
    expect(parsePerson("k", entry)).toBeUndefined();
  }
});

test("a refusal without a reason says so", () => {
  expect(parseReason({ reason: "full" })).toBe("full");
  for (const response of junk) {
    expect(parseReason(response)).toBe("no reason given");
  }
});
