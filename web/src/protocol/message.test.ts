import { expect, test } from "vitest";
import { parseChanged, parseMessage, parseReacted } from "./message";
import { junk, sample, written } from "./message.sample";

test("a message has a place, a sender, a text and a time", () => {
  expect(parseMessage(written(3))).toEqual(sample(3));
  for (const payload of [...junk, written(0), written(1.5), written(3, { text: 7 }), written(3, { at: "now" })]) {
    expect(parseMessage(payload)).toBeUndefined();
  }
});

test("what else a message has is believed as far as it is what it should be", () => {
  const full = {
    reply_to: 2,
    mentions: ["bob", 7],
    edited: 18,
    deleted: { at: 19, moderated: true },
    revision: 4,
    reactions: [{ emoji: "x", count: 2, mine: true }, { emoji: "y", count: 1 }, { emoji: 7 }, null],
  };
  expect(parseMessage(written(3, full))).toMatchObject({
    replyTo: 2,
    mentions: ["bob"],
    edited: true,
    deleted: { moderated: true },
    revision: 4,
    reactions: [{ emoji: "x", count: 2, mine: true }, { emoji: "y", count: 1, mine: false }],
  });
  expect(parseMessage(written(3, { reply_to: 0, revision: -1, mentions: "bob", reactions: {} }))).toEqual(sample(3));
});

test("a reaction says who, what and where", () => {
  const payload = { seq: 4, person: "bob", emoji: "x", on: true, reactions: [{ emoji: "x", count: 1 }], revision: 8 };
  expect(parseReacted(payload)).toEqual({ ...payload, reactions: [{ emoji: "x", count: 1, mine: false }] });
  for (const each of junk) expect(parseReacted(each)).toBeUndefined();
});

test("the answer to a change has the message, and its reactions beside it", () => {
  const response = { message: written(3), reactions: [{ emoji: "x", count: 1, mine: true }], changed: true };
  expect(parseChanged(response)).toEqual(sample(3, { reactions: [{ emoji: "x", count: 1, mine: true }] }));
  for (const each of junk) expect(parseChanged(each)).toBeUndefined();
});
