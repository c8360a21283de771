import { expect, test } from "vitest";
import { noAnswer, parseFault, type Fault } from "../protocol/fault";
import { explain, explainEntry, explainMute } from "./words";

const say = (ms: number): string => `moment ${ms}`;

function fault(code: string, details: object = {}): Fault {
  return parseFault({ code, message: "in the server's words", details });
}

test.each([
  [fault("muted", { until: 9 }), "You are muted until moment 9: you can read, but not write until then."],
  [fault("banned"), "You are banned from here."],
  [fault("slow_mode", { retry_after_ms: 700 }), "Slow mode: your next message can be sent in a second."],
  [fault("slow_mode", { retry_after_ms: 61_000 }), "Slow mode: your next message can be sent in 61 seconds."],
  [fault("slow_mode", { retry_after_ms: 3_600_000 }), "Slow mode: your next message can be sent in 60 minutes."],
  [fault("invalid", { fields: [{ field: "text", code: "length" }] }), "The text is too long or empty. Shorten it, or send it in parts."],
  [fault("refused_by_site", { reason: "members only" }), "The community's site refused this: members only"],
  [fault("limit_reached", { limit: "edits_max" }), "This message was edited the maximum number of times. Delete it, and write a new one."],
  [fault("something_new"), "That did not work: in the server's words."],
  [noAnswer, "The server did not answer, so this may or may not have been done. Try again: nothing is done twice."],
])("%o", (each, words) => {
  expect(explain(each, say)).toBe(words);
});

test("every code that docs/protocol.md lists and a page can meet has words of its own", () => {
  const codes = [
    "invalid", "not_found", "not_permitted", "banned", "muted", "slow_mode", "blocked", "limit_reached", "rate_limited",
    "client_id_reused", "deleted", "no_community", "token_expired", "token_invalid", "token_revoked", "token_unverifiable",
    "guests_refused", "name_invalid", "origin_refused", "refused_by_site", "site_unavailable", "community_full",
    "too_many_devices", "busy", "unavailable", "internal", "overloaded",
  ];
  for (const code of codes) expect(explain(fault(code), say)).not.toMatch(/^That did not work/);
});

test("a room that is not there is not the same as a message that is not", () => {
  expect(explainEntry(fault("not_found"), say)).toMatch(/^This room does not exist/);
  expect(explain(fault("not_found"), say)).toMatch(/^It no longer exists/);
  expect(explainEntry(fault("banned"), say)).toBe(explain(fault("banned"), say));
});

test("a mute for good says who can end it", () => {
  expect(explainMute(undefined, say)).toMatch(/A moderator can unmute you/);
});
