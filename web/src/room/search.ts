import type { Fault } from "../protocol/fault";
import type { Found, Hit } from "../protocol/search";

/** What is looked for, and what of it was found. */
export type Search = {
  /** What stands in the field. */
  readonly query: string;
  /** The conversation in which to look; `undefined` in all of one's own. */
  readonly within: string | undefined;
  /** What the hits are an answer to; `undefined` before the first one. */
  readonly answered: Sought | undefined;
  /** The newest first. */
  readonly hits: readonly Hit[];
  /** What older ones begin behind, if there are any. */
  readonly next: string | undefined;
  readonly asking: "anew" | "older" | undefined;
  /** Why the last question was not answered. */
  readonly fault: Fault | undefined;
};

export type Sought = { readonly query: string; readonly within: string | undefined };

export type SearchAction =
  | { readonly type: "typed"; readonly query: string }
  | { readonly type: "narrowed"; readonly within: string | undefined }
  | { readonly type: "asked"; readonly how: "anew" | "older" }
  | { readonly type: "found"; readonly how: "anew" | "older"; readonly sought: Sought; readonly found: Found }
  | { readonly type: "failed"; readonly how: "anew" | "older"; readonly sought: Sought; readonly fault: Fault };

/** Hits kept; who needs older ones says more exactly what they look for. */
export const HITS_MAX = 200;

export const nothingSought: Search = {
  query: "",
  within: undefined,
  answered: undefined,
  hits: [],
  next: undefined,
  asking: undefined,
  fault: undefined,
};

/** What is asked for: blanks around it do not count. */
export function soughtBy({ query, within }: Search): Sought {
  return { query: query.trim(), within };
}

/** Whether the hits are what is asked for now. */
export function isAnswered(search: Search): boolean {
  return isSought(search, search.answered);
}

function isSought(search: Search, sought: Sought | undefined): boolean {
  const { query, within } = soughtBy(search);
  return sought?.query === query && sought.within === within;
}

/** Whether this is an answer to what is asked now, and not to what was asked before one typed on. */
function isAwaited(search: Search, { how, sought }: Extract<SearchAction, { readonly sought: Sought }>): boolean {
  return search.asking === how && isSought(search, sought);
}

export function reduceSearch(search: Search, action: SearchAction): Search {
  switch (action.type) {
    case "typed":
      return emptied({ ...search, query: action.query, asking: undefined, fault: undefined });
    case "narrowed":
      return { ...search, within: action.within, asking: undefined, fault: undefined };
    case "asked":
      return { ...search, asking: action.how, fault: undefined };
    case "found": {
      if (!isAwaited(search, action)) return search;
      const { hits, next } = action.found;
      const all = action.how === "older" ? [...search.hits, ...hits] : hits;
      return {
        ...search,
        answered: action.sought,
        hits: all.slice(0, HITS_MAX),
        next: all.length < HITS_MAX ? next : undefined,
        asking: undefined,
        fault: undefined,
      };
    }
    case "failed":
      if (!isAwaited(search, action)) return search;
      // What was found so far stays beside the reason why older ones did not come.
      return search.asking === "older"
        ? { ...search, asking: undefined, fault: action.fault }
        : { ...search, answered: undefined, hits: [], next: undefined, asking: undefined, fault: action.fault };
  }
}

/** Where nothing is looked for nothing is found. */
function emptied(search: Search): Search {
  return search.query.trim() === "" ? { ...nothingSought, query: search.query, within: search.within } : search;
}
