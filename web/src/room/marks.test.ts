import { expect, test } from "vitest";
import { markedIn, wordsOf } from "./marks";

/** The marked words stand in brackets. */
function shown(text: string, query: string): string {
  return markedIn(text, query).map((piece) => (piece.marked ? `[${piece.text}]` : piece.text)).join("");
}

test.each([
  ["Smörgåsbord, 2 PLATES!", ["smorgasbord", "2", "plates"]],
  ["東京 tower", ["東", "京", "tower"]],
  ["ÉCOLE ﬁn Straße", ["ecole", "fin", "straße"]],
  ["e\u0301cole", ["ecole"]],
  ["… 👩\u{200d}🚀 !?", []],
])("the words of %s are those of the server", (text, words) => {
  expect(wordsOf(text).map(({ folded }) => folded)).toEqual(words);
});

test.each([
  ["Who has the keys?", "keys", "Who has the [keys]?"],
  ["The école opens", "ECOLE", "The [école] opens"],
  ["The e\u0301cole opens", "ecole", "The [e\u0301cole] opens"],
  ["keyboards and a key", "key", "[keyboards] and a [key]"],
  ["keyboards and a key", "key and", "keyboards [and] a [key]"],
  ["a band, a b", "b", "a band, a [b]"],
  ["two\nlines", "lines", "two [lines]"],
  ["<b>bold</b>", "bold", "<b>[bold]</b>"],
  ["東京", "東", "[東]京"],
  ["nothing of it", "else", "nothing of it"],
])("in %j a search for %j marks %j", (text, query, marked) => {
  expect(shown(text, query)).toBe(marked);
});

test("of a long text the part around the first word is shown, cut between words", () => {
  const long = `${"before ".repeat(100)}needle ${"behind ".repeat(100)}`;
  const text = shown(long, "needle");
  expect(text).toMatch(/^…before .*\[needle\] behind .*behind…$/u);
  expect(text.length).toBeLessThan(260);
});

test("a text without blanks is cut as well, and no character is taken apart", () => {
  const text = shown("🚀".repeat(500), "needle");
  expect(text).toMatch(/^(🚀)+…$/u);
  expect(shown(`${"a".repeat(500)}-needle`, "needle")).toBe("…[needle]");
});
