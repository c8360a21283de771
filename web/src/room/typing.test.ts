import { expect, test } from "vitest";
import { nobodyTypes, reduceTyping, typingWords } from "./typing";
import { TypingSignal } from "./typing-signal";

const typing = (person: string, on: boolean) => ({ type: "typing", person, on }) as const;

test("who begins is in, who ends is out", () => {
  const both = [typing("ann", true), typing("bob", true), typing("ann", true)].reduce(reduceTyping, nobodyTypes);
  expect([...both]).toEqual(["ann", "bob"]);
  expect([...reduceTyping(both, typing("ann", false))]).toEqual(["bob"]);
  expect(reduceTyping(both, typing("cat", false))).toBe(both);
});

test.each([
  [[], ""],
  [["Ann"], "Ann is typing…"],
  [["Ann", "Bob"], "Ann and Bob are typing…"],
  [["Ann", "Bob", "Cat"], "Ann, Bob and Cat are typing…"],
  [["Ann", "Bob", "Cat", "Dan"], "Ann, Bob, Cat and Dan are typing…"],
  [["Ann", "Bob", "Cat", "Dan", "Eve"], "Ann, Bob, Cat and 2 others are typing…"],
])("%j", (names, words) => {
  expect(typingWords(names)).toBe(words);
});

test("that one types is told now and then, its end once", () => {
  const signal = new TypingSignal();
  expect([0, 1000, 2999, 3000, 4000].map((now) => signal.typed(now))).toEqual([true, false, false, true, false]);
  expect([signal.stopped(), signal.stopped()]).toEqual([true, false]);
  expect(signal.typed(4001)).toBe(true);
});
