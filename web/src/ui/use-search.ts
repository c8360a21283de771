import { useCallback, useEffect, useReducer, useRef } from "preact/hooks";
import { wordsOf } from "../room/marks";
import { isAnswered, nothingSought, reduceSearch, soughtBy, type Search } from "../room/search";
import type { RoomActions } from "./use-room";

/** Who types on is not done yet. */
const PAUSE_MS = 300;

export type Searching = {
  readonly search: Search;
  readonly type: (query: string) => void;
  /** Looks in one conversation alone, or in all. */
  readonly narrow: (conversation: string | undefined) => void;
  /** Searches at once. */
  readonly submit: () => void;
  /** Brings older ones. */
  readonly more: () => void;
};

/** Searches while one types. An answer to what was asked before is none any more. */
export function useSearch(online: boolean, ask: RoomActions["search"]): Searching {
  const [search, dispatch] = useReducer(reduceSearch, nothingSought);
  const now = useRef({ search, online });
  now.current = { search, online };
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);

  const run = useCallback(
    async (how: "anew" | "older"): Promise<void> => {
      clearTimeout(pause.current);
      const sought = soughtBy(now.current.search);
      if (!now.current.online || wordsOf(sought.query).length === 0) return;
      dispatch({ type: "asked", how });
      const found = await ask({ ...sought, before: how === "older" ? now.current.search.next : undefined });
      dispatch("hits" in found ? { type: "found", how, sought, found } : { type: "failed", how, sought, fault: found });
    },
    [ask],
  );

  const { query, within } = search;
  useEffect(() => {
    if (!online || isAnswered(now.current.search)) return;
    pause.current = setTimeout(() => void run("anew"), PAUSE_MS);
    return () => { clearTimeout(pause.current); };
  }, [query, within, online, run]);

  return {
    search,
    type: (text) => { dispatch({ type: "typed", query: text }); },
    narrow: (conversation) => { dispatch({ type: "narrowed", within: conversation }); },
    submit: () => { if (!isAnswered(search) || search.fault !== undefined) void run("anew"); },
    more: () => void run("older"),
  };
}
