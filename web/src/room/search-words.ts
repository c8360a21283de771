import { NO_ANSWER, type Fault } from "../protocol/fault";
import { BEGINNING_MIN, wordsOf } from "./marks";
import { HITS_MAX, isAnswered, type Search } from "./search";
import { explain, type SayMoment } from "./words";

/** How a search stands, in words. */
export function searchWords(search: Search, online: boolean, say: SayMoment): string {
  const { query, hits, next, asking, fault } = search;
  if (query.trim() === "") return "";
  if (wordsOf(query).length === 0) return "Enter a word: the search needs at least one letter or digit.";
  if (fault !== undefined) return explainSearch(fault, say);
  if (!online) return "You are offline. You can search when the connection is back.";
  if (asking === "older") return "Searching older messages…";
  if (!isAnswered(search)) return "Searching…";
  if (hits.length === 0 && next === undefined) return nothingWords(query);
  if (hits.length >= HITS_MAX) return `Showing the newest ${HITS_MAX}. Search for more words to find older ones.`;
  const count = hits.length === 1 ? "1 message" : `${hits.length} messages`;
  return next === undefined ? `${count} found` : `The newest ${count}`;
}

/** Why nothing could be searched for, and what to do about it. */
export function explainSearch(fault: Fault, say: SayMoment): string {
  if (fault.code === NO_ANSWER) return "The search took too long. Try again with longer or more words.";
  if (fault.code === "token_limited") return "Your sign-in is limited to some rooms: search only this one.";
  const rule = fault.code === "invalid" ? RULES[fault.broken[0]?.rule ?? ""] : undefined;
  return rule ?? explain(fault, say);
}

const RULES: Readonly<Record<string, string>> = {
  too_broad: "Too many messages match. Search for longer or more words.",
  length: "The search text is too long. Use fewer words.",
  form: "Enter a word: the search needs at least one letter or digit.",
};

/** Of a short word it is not clear that only whole words were looked for. */
function nothingWords(query: string): string {
  const last = wordsOf(query).at(-1)?.folded ?? "";
  return Array.from(last).length < BEGINNING_MIN
    ? "No results. One or two letters only match whole words: enter more letters."
    : "No results. A message must contain all of the words.";
}
