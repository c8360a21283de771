import { NO_ANSWER, type Fault } from "../protocol/fault";
import { BEGINNING_MIN, wordsOf } from "./marks";
import { HITS_MAX, isAnswered, type Search } from "./search";
import { explain, type SayMoment } from "./words";

/** How a search stands, in words. */
export function searchWords(search: Search, online: boolean, say: SayMoment): string {
  const { query, hits, next, asking, fault } = search;
  if (query.trim() === "") return "";
  if (wordsOf(query).length === 0) return "Type a word: signs alone cannot be searched for.";
  if (fault !== undefined) return explainSearch(fault, say);
  if (!online) return "You are offline. Search as soon as the connection is back.";
  if (asking === "older") return "Older messages are sought…";
  if (!isAnswered(search)) return "Searching…";
  if (hits.length === 0 && next === undefined) return nothingWords(query);
  if (hits.length >= HITS_MAX) return `These are the newest ${HITS_MAX}. Search for more words to find older ones.`;
  const count = hits.length === 1 ? "1 message" : `${hits.length} messages`;
  return next === undefined ? `${count} found` : `The newest ${count}`;
}

/** Why nothing could be searched for, and what to do about it. */
export function explainSearch(fault: Fault, say: SayMoment): string {
  if (fault.code === NO_ANSWER) return "No answer came in time. Try again, with longer words or more of them.";
  if (fault.code === "token_limited") return "Your sign-in is for some rooms only: search in this one alone.";
  const rule = fault.code === "invalid" ? RULES[fault.broken[0]?.rule ?? ""] : undefined;
  return rule ?? explain(fault, say);
}

const RULES: Readonly<Record<string, string>> = {
  too_broad: "This finds too much to look through. Search for longer words, or more of them.",
  length: "This is too long to be searched for. Use fewer words.",
  form: "Type a word: signs alone cannot be searched for.",
};

/** Of a short word it is not clear that only whole words were looked for. */
function nothingWords(query: string): string {
  const last = wordsOf(query).at(-1)?.folded ?? "";
  return Array.from(last).length < BEGINNING_MIN
    ? "Nothing found. One or two letters are found as a whole word only: type more of it."
    : "Nothing found. Each of the words has to be in the message.";
}
