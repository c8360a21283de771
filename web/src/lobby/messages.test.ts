import { expect, test } from "vitest";
import { addGap, addMessage, ENTRIES_MAX, noMessages, type Messages } from "./messages";

const hello = { name: "Ann", body: "hello" };

function say(messages: Messages, count: number): Messages {
  return Array.from({ length: count }).reduce<Messages>(
    (soFar, _, at) => addMessage(soFar, { name: "Ann", body: `message ${at}` }, at),
    messages,
  );
}

test("a message is kept as it was said, with its time of arrival", () => {
  const { entries } = addMessage(noMessages, { name: "<b>Ann</b>", body: "a\n<i>b</i>" }, 17);
  expect(entries).toEqual([{ kind: "message", id: 0, name: "<b>Ann</b>", body: "a\n<i>b</i>", at: 17 }]);
});

test("the list is bounded: the oldest entries go first and ids go on growing", () => {
  const { entries, nextId } = say(noMessages, ENTRIES_MAX + 3);
  expect(entries).toHaveLength(ENTRIES_MAX);
  expect(entries[0]).toMatchObject({ id: 3, body: "message 3" });
  expect(nextId).toBe(ENTRIES_MAX + 3);
});

test("adding leaves the former list as it was", () => {
  const before = say(noMessages, 2);
  addMessage(before, hello, 3);
  expect(before.entries).toHaveLength(2);
});

test("a time without connection is marked once, and not before the first message", () => {
  expect(addGap(noMessages, 1)).toBe(noMessages);
  const gapped = addGap(addMessage(noMessages, hello, 1), 2);
  expect(gapped.entries.map((entry) => entry.kind)).toEqual(["message", "gap"]);
  expect(addGap(gapped, 3)).toBe(gapped);
});
