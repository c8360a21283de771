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
  [{ query: "?!" }, "Type a word: signs alone cannot be searched for."],
  [{ answered: undefined }, "Searching…"],
  [{ hits: [hit] }, "1 message found"],
  [{ hits: [hit, hit], next: "m" }, "The newest 2 messages"],
  [{ hits: Array.from({ length: HITS_MAX }, () => hit) }, "These are the newest 200. Search for more words to find older ones."],
  [{}, "Nothing found. Each of the words has to be in the message."],
  [{ query: "ke" }, "Nothing found. One or two letters are found as a whole word only: type more of it."],
  [{ fault: broken("too_broad") }, "This finds too much to look through. Search for longer words, or more of them."],
  [{ fault: broken("length") }, "This is too long to be searched for. Use fewer words."],
  [{ fault: noAnswer }, "No answer came in time. Try again, with longer words or more of them."],
  [{ fault: parseFault({ code: "token_limited" }) }, "Your sign-in is for some rooms only: search in this one alone."],
  [{ fault: parseFault({ code: "rate_limited" }) }, "That was too much in a minute. Wait a moment, and try again."],
])("%o", (search, said) => {
  expect(words(search)).toBe(said);
});

test("without a connection nothing is searched for", () => {
  expect(words({}, false)).toBe("You are offline. Search as soon as the connection is back.");
});
