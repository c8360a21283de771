import type { Quote } from "./quotes";

const CHARACTERS_MAX = 140;

/** The beginning of a text in one line. */
export function excerptOf(text: string): string {
  const line = text.replace(/\s+/gu, " ").trim();
  // A character may be two units; more than that many units need not be looked at.
  const characters = Array.from(line.slice(0, CHARACTERS_MAX * 2 + 1));
  if (characters.length <= CHARACTERS_MAX) return line;
  return `${characters.slice(0, CHARACTERS_MAX - 1).join("").trimEnd()}…`;
}

/** What a message answers, in a line. */
export function quoteWords(quote: Quote): string {
  switch (quote.kind) {
    case "known":
      return quote.message.deleted === undefined ? excerptOf(quote.message.text) : "This message was deleted.";
    case "gone":
      return "A message that is no longer available";
    case "unknown":
      return "An earlier message";
  }
}
