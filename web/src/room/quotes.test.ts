import { expect, test } from "vitest";
import { sample } from "../protocol/message.sample";
import { excerptOf, quoteWords } from "./excerpt";
import { noMessages, type Messages } from "./messages";
import { noQuotes, quoteOf, reduceQuotes, unquoted } from "./quotes";

const messages: Messages = {
  ...noMessages,
  shown: [sample(8), sample(9, { replyTo: 8 }), sample(10, { replyTo: 2 }), sample(11, { replyTo: 2 }), sample(12, { replyTo: 1 })],
};

test("what is answered and neither shown nor known is asked for once", () => {
  expect(unquoted(messages, noQuotes)).toEqual([2, 1]);
  const known = reduceQuotes(noQuotes, { type: "quoted", seq: 2, message: sample(2) });
  const gone = reduceQuotes(known, { type: "quoted", seq: 1, message: undefined });
  expect(unquoted(messages, gone)).toEqual([]);
  expect(quoteOf(8, messages, gone)).toEqual({ kind: "known", message: sample(8) });
  expect(quoteOf(2, messages, gone)).toEqual({ kind: "known", message: sample(2) });
  expect(quoteOf(1, messages, gone)).toEqual({ kind: "gone" });
  expect(quoteOf(3, messages, gone)).toEqual({ kind: "unknown" });
});

test("what is answered is shown as it is now", () => {
  const known = reduceQuotes(noQuotes, { type: "quoted", seq: 2, message: sample(2, { revision: 3 }) });
  const edited = reduceQuotes(known, { type: "edited", message: sample(2, { text: "new", revision: 4 }) });
  expect(edited.get(2)?.text).toBe("new");
  expect(reduceQuotes(edited, { type: "edited", message: sample(2, { text: "old", revision: 3 }) })).toBe(edited);
  const tombstone = sample(2, { text: "", deleted: { moderated: false }, revision: 5 });
  const deleted = reduceQuotes(edited, { type: "edited", message: tombstone });
  expect(quoteWords(quoteOf(2, messages, deleted))).toBe("This message was deleted.");
});

test("so many are kept and no more", () => {
  let quotes = noQuotes;
  for (let seq = 1; seq <= 250; seq += 1) quotes = reduceQuotes(quotes, { type: "quoted", seq, message: sample(seq) });
  expect(quotes.size).toBe(200);
  expect(quotes.has(50)).toBe(false);
  expect(quotes.has(250)).toBe(true);
});

test("a quotation is a line, and not a long one", () => {
  expect(excerptOf(" one\n\n two\t")).toBe("one two");
  expect(excerptOf("👋".repeat(140))).toBe("👋".repeat(140));
  expect(excerptOf("👋".repeat(141))).toBe(`${"👋".repeat(139)}…`);
  expect(excerptOf(`${"a".repeat(138)} ${"b".repeat(50)}`)).toBe(`${"a".repeat(138)}…`);
});
