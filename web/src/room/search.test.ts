import { expect, test } from "vitest";
import { noAnswer } from "../protocol/fault";
import { sample } from "../protocol/message.sample";
import type { Hit } from "../protocol/search";
import { HITS_MAX, isAnswered, nothingSought, reduceSearch, type Search, type SearchAction } from "./search";

function after(...actions: SearchAction[]): Search {
  return actions.reduce(reduceSearch, nothingSought);
}

function hits(from: number, count: number): Hit[] {
  return Array.from({ length: count }, (_, at) => ({ id: `m${from - at}`, conversation: "c", message: sample(from - at) }));
}

const typed: SearchAction = { type: "typed", query: " keys " };
const sought = { query: "keys", within: undefined };
const found = (how: "anew" | "older", from: number, count: number, next?: string): SearchAction => ({
  type: "found",
  how,
  sought,
  found: { hits: hits(from, count), next },
});

test("what was found stays while one types on, but is no answer any more", () => {
  const search = after(typed, { type: "asked", how: "anew" }, found("anew", 9, 2, "m8"));
  expect(isAnswered(search)).toBe(true);
  expect(search).toMatchObject({ next: "m8", asking: undefined });
  const on = reduceSearch(search, { type: "typed", query: "keyst" });
  expect(isAnswered(on)).toBe(false);
  expect(on.hits).toHaveLength(2);
  expect(isAnswered(reduceSearch(search, { type: "narrowed", within: "c" }))).toBe(false);
});

test("where nothing is looked for nothing is found", () => {
  const search = after(typed, { type: "asked", how: "anew" }, found("anew", 9, 2));
  expect(reduceSearch(search, { type: "typed", query: " " })).toMatchObject({ hits: [], answered: undefined });
});

test("older ones stand below, up to a bound", () => {
  const older: SearchAction = { type: "asked", how: "older" };
  const search = after(typed, { type: "asked", how: "anew" }, found("anew", 9, 2, "m8"), older, found("older", 7, 2, "m6"));
  expect(search.hits.map(({ id }) => id)).toEqual(["m9", "m8", "m7", "m6"]);
  expect(search.next).toBe("m6");
  const full = [older, found("older", 5, HITS_MAX, "more")].reduce(reduceSearch, search);
  expect(full.hits).toHaveLength(HITS_MAX);
  expect(full.next).toBeUndefined();
});

test("a search that failed has no hits; where older ones did not come the rest stays", () => {
  const search = after(typed, { type: "asked", how: "anew" }, found("anew", 9, 2, "m8"));
  const failed = (how: "anew" | "older"): SearchAction => ({ type: "failed", how, sought, fault: noAnswer });
  const anew = [{ type: "asked", how: "anew" }, failed("anew")] as const;
  expect(anew.reduce(reduceSearch, search)).toMatchObject({ hits: [], fault: noAnswer });
  const older = [{ type: "asked", how: "older" }, failed("older")] as const;
  expect(older.reduce(reduceSearch, search)).toMatchObject({ next: "m8", fault: noAnswer, answered: sought, asking: undefined });
});

test("an answer to what was asked before one typed on is none", () => {
  const asked = after(typed, { type: "asked", how: "anew" });
  const on = reduceSearch(asked, { type: "typed", query: "keyst" });
  const failed: SearchAction = { type: "failed", how: "anew", sought, fault: noAnswer };
  for (const late of [found("anew", 9, 2), failed]) {
    expect(reduceSearch(on, late)).toBe(on);
    const askedOn = reduceSearch(on, { type: "asked", how: "anew" });
    expect(reduceSearch(askedOn, late)).toBe(askedOn);
  }
});

test("older ones that come twice stand there once", () => {
  const first = after(typed, { type: "asked", how: "anew" }, found("anew", 9, 2, "m8"), { type: "asked", how: "older" });
  const search = reduceSearch(first, found("older", 7, 2, "m6"));
  expect(reduceSearch(search, found("older", 7, 2, "m6"))).toBe(search);
});
