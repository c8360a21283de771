import { expect, test } from "vitest";
import type { RoomEvent, Where } from "../protocol/events";
import { noAnswer } from "../protocol/fault";
import { sample, samples } from "../protocol/message.sample";
import {
  hasEarlier,
  hasLater,
  lastOf,
  messageAt,
  MESSAGES_MAX,
  noMessages,
  reduceMessages,
  reduceReader,
  type Messages,
} from "./messages";

function after(...events: RoomEvent[]): Messages {
  return events.reduce(reduceMessages, noMessages);
}

function places({ shown }: Messages): string {
  return `${shown[0]?.seq ?? "-"}…${shown.at(-1)?.seq ?? "-"}`;
}

const page = (from: number, to: number, first = 1): RoomEvent => ({
  type: "page",
  messages: samples(from, to),
  first,
  last: to,
  lost: undefined,
});
const brought = (where: Where, from: number, to: number, last: number, first = 1): RoomEvent => ({
  type: "brought",
  where,
  messages: samples(from, to),
  first,
  last,
});
const said = (seq: number): RoomEvent => ({ type: "said", message: sample(seq) });

test("a page stands in place of everything, and what is said stands behind it", () => {
  const messages = after(page(1, 2), said(3), page(7, 9, 4), said(10));
  expect(places(messages)).toBe("7…10");
  expect([messages.newest, hasEarlier(messages), hasLater(messages)]).toEqual([10, true, false]);
});

test("older messages stand before, until the room begins", () => {
  const messages = after(page(5, 6), brought("earlier", 3, 4, 6), brought("earlier", 1, 2, 6));
  expect(places(messages)).toBe("1…6");
  expect(hasEarlier(messages)).toBe(false);
});

test("where nothing older is kept any more, there the room begins", () => {
  const messages = after(page(5, 6), brought("earlier", 1, 0, 6, 5));
  expect(hasEarlier(messages)).toBe(false);
});

test("an answer that does not fit any more is dropped", () => {
  expect(places(after(page(9, 9), brought("earlier", 3, 4, 9)))).toBe("9…9");
  expect(places(after(page(3, 4), brought("later", 7, 9, 9)))).toBe("3…4");
});

test("who reads further up than the page holds leaves the end, and comes back to it", () => {
  let messages = after(page(MESSAGES_MAX + 1, 2 * MESSAGES_MAX));
  messages = reduceMessages(messages, brought("earlier", MESSAGES_MAX - 49, MESSAGES_MAX, 2 * MESSAGES_MAX));
  expect(messages.shown).toHaveLength(MESSAGES_MAX);
  expect(hasLater(messages)).toBe(true);

  const end = messages.shown.at(-1)?.seq ?? 0;
  messages = reduceMessages(messages, said(2 * MESSAGES_MAX + 1));
  expect(messages.shown.at(-1)?.seq).toBe(end);
  expect(messages.newest).toBe(2 * MESSAGES_MAX + 1);

  messages = reduceMessages(messages, brought("later", end + 1, 2 * MESSAGES_MAX + 1, 2 * MESSAGES_MAX + 1));
  expect(messages.shown).toHaveLength(MESSAGES_MAX);
  expect(hasLater(messages)).toBe(false);
});

test("who follows the end loses the oldest; who reads further up loses nothing", () => {
  const full = after(page(1, MESSAGES_MAX));
  expect(places(reduceMessages(full, said(MESSAGES_MAX + 1)))).toBe(`2…${MESSAGES_MAX + 1}`);
  const reading = reduceReader(full, { type: "followed", on: false });
  const messages = reduceMessages(reading, said(MESSAGES_MAX + 1));
  expect(places(messages)).toBe(`1…${MESSAGES_MAX}`);
  expect(hasLater(messages)).toBe(true);
});

test("a message that an answer has brought is not shown again when it is told", () => {
  const messages = after(page(1, 2), brought("newest", 1, 3, 3), said(3));
  expect(places(messages)).toBe("1…3");
});

test("a place that was sought takes the place of everything, and the end is known", () => {
  const messages = after(page(80, 90), brought("around", 10, 20, 90));
  expect(places(messages)).toBe("10…20");
  expect([hasEarlier(messages), hasLater(messages)]).toEqual([true, true]);
  expect(places(reduceMessages(messages, brought("newest", 80, 90, 90)))).toBe("80…90");
});

test("what was asked for is known until it comes, fails or is not answered any more", () => {
  const asked = reduceReader(after(page(5, 6)), { type: "asked", where: "earlier" });
  const failed: RoomEvent = { type: "not_brought", where: "earlier", fault: noAnswer };
  expect(reduceMessages(asked, brought("earlier", 3, 4, 6)).asked).toBeUndefined();
  expect(reduceMessages(asked, brought("around", 3, 4, 6)).asked).toEqual({ where: "earlier", failed: false });
  expect(reduceMessages(asked, failed).asked).toEqual({ where: "earlier", failed: true });
  const me = { person: "ann", name: "Ann", guest: true, role: undefined };
  expect(reduceMessages(asked, { type: "joined", me, member: undefined }).asked).toBeUndefined();
});

test("an edit keeps the reactions, a tombstone has none", () => {
  const reactions = [{ emoji: "x", count: 1, mine: false }];
  const reacted = after(page(1, 2), { type: "reacted", seq: 2, emoji: "x", mine: undefined, reactions, revision: 1 });
  const edit = sample(2, { text: "new", edited: true, revision: 2 });
  const edited = reduceMessages(reacted, { type: "edited", message: edit });
  expect(edited.shown[1]).toEqual({ ...edit, reactions });
  const tombstone = sample(2, { text: "", deleted: { moderated: false }, revision: 3 });
  expect(reduceMessages(edited, { type: "edited", message: tombstone }).shown[1]).toEqual(tombstone);
});

test("what is told late does not undo what is newer", () => {
  const newer = after(page(1, 1), { type: "changed", message: sample(1, { text: "newer", revision: 4 }) });
  expect(reduceMessages(newer, { type: "edited", message: sample(1, { text: "older", revision: 3 }) })).toBe(newer);
  expect(reduceMessages(newer, { type: "reacted", seq: 1, emoji: "x", mine: true, reactions: [], revision: 3 })).toBe(newer);
});

test("a message is found by its place, also where places are missing", () => {
  const messages = { ...noMessages, shown: [sample(3), sample(7), sample(8)] };
  expect([3, 7, 8].map((seq) => messageAt(messages, seq)?.seq)).toEqual([3, 7, 8]);
  expect(messageAt(messages, 4)).toBeUndefined();
  expect(messageAt(noMessages, 1)).toBeUndefined();
});

test("the last message of a person is one that can still be changed", () => {
  const shown = [sample(1), sample(2, { sender: "bob" }), sample(3, { deleted: { moderated: false } })];
  expect(lastOf({ ...noMessages, shown }, "ann")?.seq).toBe(1);
  expect(lastOf({ ...noMessages, shown }, "cat")).toBeUndefined();
});
