/**
 * The words of a search, marked in what was found. What a word is the server says (`docs/decisions/0012`): a run of letters
 * and digits, without case and accents; each ideograph is one.
 */

/** A stretch of a text. */
export type MarkedPiece = { readonly text: string; readonly marked: boolean };

type Word = { start: number; end: number; folded: string };

/** The last word of a search may be the beginning of one, from so many characters on. */
export const BEGINNING_MIN = 3;
/** Of a longer text the part around the first word that is marked is shown. */
const CHARACTERS_MAX = 240;
/** So much of it stands before that word. */
const BEFORE_MAX = 60;

const ACCENTS = /\p{M}/gu;
const LETTERS = /^[\p{Alphabetic}\p{N}]+$/u;
/** Han, Hiragana and Katakana. */
const IDEOGRAPH = /^[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u{20000}-\u{3ffff}]/u;

/** The words of a text, as a search takes them, and where they stand. */
export function wordsOf(text: string): readonly Readonly<Word>[] {
  const words: Word[] = [];
  let open: Word | undefined;
  let end = 0;
  for (const character of text) {
    const start = end;
    end += character.length;
    const folded = character.normalize("NFKD").replace(ACCENTS, "").toLowerCase();
    if (folded === "") {
      // An accent by itself is the one of the letter before it.
      if (open !== undefined) open.end = end;
    } else if (IDEOGRAPH.test(folded) || !LETTERS.test(folded)) {
      open = undefined;
      if (IDEOGRAPH.test(folded)) words.push({ start, end, folded });
    } else if (open === undefined) {
      open = { start, end, folded };
      words.push(open);
    } else {
      open.end = end;
      open.folded += folded;
    }
  }
  return words;
}

/** A text in one line, or the part of it around the first word of the search, with these words marked. */
export function markedIn(text: string, query: string): readonly MarkedPiece[] {
  const line = text.replace(/\s+/gu, " ").trim();
  const found = matchesIn(line, query);
  const [from, to] = windowOf(line, found[0]?.start ?? 0);
  const pieces: MarkedPiece[] = [];
  let at = from;
  const add = (end: number, marked: boolean): void => {
    if (end > at) pieces.push({ text: line.slice(at, end), marked });
    at = Math.max(at, end);
  };
  if (from > 0) pieces.push({ text: "…", marked: false });
  for (const { start, end } of found) {
    if (start < from || end > to) continue;
    add(start, false);
    add(end, true);
  }
  add(to, false);
  if (to < line.length) pieces.push({ text: "…", marked: false });
  return pieces;
}

function matchesIn(text: string, query: string): readonly Readonly<Word>[] {
  const sought = wordsOf(query).map(({ folded }) => folded);
  const last = sought.at(-1);
  const beginning = last !== undefined && Array.from(last).length >= BEGINNING_MIN ? last : undefined;
  return wordsOf(text).filter(
    ({ folded }) => sought.includes(folded) || (beginning !== undefined && folded.startsWith(beginning)),
  );
}

/** From where to where a text is shown of which the word at `first` is to be seen: cut between words, if there are any. */
function windowOf(text: string, first: number): readonly [number, number] {
  if (text.length <= CHARACTERS_MAX) return [0, text.length];
  const blank = first <= BEFORE_MAX ? -1 : text.indexOf(" ", first - BEFORE_MAX);
  const from = first <= BEFORE_MAX ? 0 : blank === -1 || blank >= first ? first : blank + 1;
  const end = Math.min(from + CHARACTERS_MAX, text.length);
  if (end === text.length) return [from, end];
  const last = text.lastIndexOf(" ", end);
  // A character of two units is not taken apart.
  const whole = /[\uD800-\uDBFF]$/u.test(text.slice(0, end)) ? end - 1 : end;
  return [from, last > from + CHARACTERS_MAX / 2 ? last : whole];
}
