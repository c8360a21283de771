import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import type { Message } from "../protocol/wire";
import { MESSAGES_MAX, noMessages, reduceMessages, type Messages } from "./messages";

function message(seq: number, more: Partial<Message> = {}): Message {
  return { seq, sender: "ann", text: `${seq}`, at: seq, edited: false, deleted: false, reactions: [], ...more };
}

function places(first: number, last: number): Message[] {
  return Array.from({ length: last - first + 1 }, (_, at) => message(first + at));
}

function after(...events: RoomEvent[]): Messages {
  return events.reduce(reduceMessages, noMessages);
}

function seqs({ shown }: Messages): number[] {
  return shown.map(({ seq }) => seq);
}

const page = (first: number, last: number, more = false): RoomEvent => ({
  type: "page",
  messages: places(first, last),
  more,
});
const said = (seq: number): RoomEvent => ({ type: "said", message: message(seq) });

test("a page stands in place of everything, and what is said stands behind it", () => {
  const messages = after(page(1, 2), said(3), page(7, 9, true), said(10));
  expect(seqs(messages)).toEqual([7, 8, 9, 10]);
  expect(messages.more).toBe(true);
  expect(messages.arrived).toBe(4);
});

test("older messages stand before, and are not counted as new", () => {
  const messages = after(page(5, 6, true), { type: "earlier", messages: places(3, 4), more: true });
  expect(seqs(messages)).toEqual([3, 4, 5, 6]);
  expect(messages.arrived).toBe(1);
  expect(reduceMessages(messages, { type: "earlier", messages: [], more: false }).more).toBe(false);
});

test("an answer that does not fit any more is dropped", () => {
  expect(seqs(after(page(9, 9, true), { type: "earlier", messages: places(3, 4), more: true }))).toEqual([9]);
});

test("the stretch is bounded, and its beginning can be asked for again", () => {
  const messages = after(page(1, MESSAGES_MAX), said(MESSAGES_MAX + 1));
  expect(messages.shown).toHaveLength(MESSAGES_MAX);
  expect(messages.shown[0]).toMatchObject({ seq: 2 });
  expect(messages.more).toBe(true);
});

test("an edit keeps the reactions, a tombstone has none", () => {
  const reacted = after(page(1, 2), { type: "reacted", seq: 2, reactions: [{ emoji: "x", count: 1 }] });
  const edited = reduceMessages(reacted, { type: "changed", message: message(2, { text: "new", edited: true }) });
  expect(edited.shown[1]).toMatchObject({ text: "new", edited: true, reactions: [{ emoji: "x", count: 1 }] });
  const deleted = reduceMessages(edited, { type: "changed", message: message(2, { text: "", deleted: true }) });
  expect(deleted.shown[1]).toMatchObject({ deleted: true, reactions: [] });
});
