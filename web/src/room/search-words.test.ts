import { expect, test } from "vitest";
import { noAnswer, parseFault, type Fault } from "../protocol/fault";
import { sample } from "../protocol/message.sample";
import { HITS_MAX, nothingSought, type Search } from "./search";
import { searchWords } from "./search-words";

const hit = { id: "m", conversation: "c", message: sample(1) };

function words(more: Partial<Search>, online = true): string {
  const answered = { query: more.query ?? "keys", within: undefined };
  return searchWords({ ...nothingSought, query: "keys", answered, ...more }, online, (ms) => `${ms}`);
}

function broken(rule: string): Fault {
  return parseFault({ code: "invalid", message: "invalid", details: { fields: [{ field: "query", code: rule }] } });
}

test.each([
  [{ query: "" }, ""],
  [{ query: "?!" }, "Enter a word: the search needs at least one letter or digit."],
  [{ answered: undefined }, "Searching…"],
  [{ hits: [hit] }, "1 message found"],
  [{ hits: [hit, hit], next: "m" }, "The newest 2 messages"],
  [{ hits: Array.from({ length: HITS_MAX }, () => hit) }, "Showing the newest 200. Search for more words to find older ones."],
  [{}, "No results. A message must contain all of the words."],
  [{ query: "ke" }, "No results. One or two letters only match whole words: enter more letters."],
  [{ fault: broken("too_broad") }, "Too many messages match. Search for longer or more words."],
  [{ fault: broken("length") }, "The search text is too long. Use fewer words."],
  [{ fault: noAnswer }, "The search took too long. Try again with longer or more words."],
  [{ fault: parseFault({ code: "token_limited" }) }, "Your sign-in is limited to some rooms: search only this one."],
  [{ fault: parseFault({ code: "rate_limited" }) }, "Too many requests in a minute. Wait a moment, and try again."],
])("%o", (search, said) => {
  expect(words(search)).toBe(said);
});

test("without a connection nothing is searched for", () => {
  expect(words({}, false)).toBe("You are offline. You can search when the connection is back.");
});
