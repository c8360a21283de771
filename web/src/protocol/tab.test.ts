import { expect, test } from "vitest";
import { conversation, junk, sample, written } from "./message.sample";
import { parseCursors, parseGone, parseKept, parseSaid, parseTab } from "./tab";

test("a line of the tab has a conversation, and what is new in it", () => {
  const tab = { conversation: conversation(1, 9), member: { read: 7, muted: true }, last: written(9), unread: 2, mentions: 1 };
  expect(parseTab(tab)).toMatchObject({ last: sample(9), read: 7, unread: 2, mentions: 1, muted: true, archived: false });
  expect(parseTab({ ...tab, last: null })?.last).toBeUndefined();
  for (const each of junk) expect(parseTab(each)).toBeUndefined();
});

test("what is told of a line says which it is", () => {
  expect(parseCursors({ conversation: "c", read: 0, unread: 3 })).toEqual({ conversation: "c", read: 0, unread: 3 });
  expect(parseKept({ conversation: "c", muted: true, archived: false })).toEqual({ conversation: "c", muted: true, archived: false });
  expect(parseGone({ conversation: "c", person: "ann", why: "erased" })).toEqual({ conversation: "c", person: "ann" });
  expect(parseSaid(written(3, { conversation: "c" }))).toEqual({ conversation: "c", message: sample(3) });
  for (const each of [...junk, written(3)]) {
    const parsed = [parseCursors(each), parseGone(each), parseKept(each), parseSaid(each)];
    expect(parsed).toEqual([undefined, undefined, undefined, undefined]);
  }
});
