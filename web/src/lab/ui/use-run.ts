import { useEffect, useState } from "preact/hooks";
import { merge } from "../model/merge";
import { parseRows, parseStatus, type Row, type RunStatus } from "../model/wire";

const INTERVAL_MS = 1000;
/** As many rows as one answer has at most: fewer are the last. */
const ROWS_PER_ANSWER = 600;

export type Run = {
  readonly status: RunStatus | undefined;
  readonly rows: readonly Row[];
  /** Whether the last question was answered. */
  readonly reachable: boolean;
};

/** Asks for the run once a second for as long as the page is shown. */
export function useRun(): Run {
  const [run, setRun] = useState<Run>({ status: undefined, rows: [], reachable: true });

  useEffect(() => {
    const left = new AbortController();
    let rows: readonly Row[] = [];
    let timer = 0;

    async function ask(): Promise<void> {
      try {
        const status = parseStatus(await json("/api/status", left.signal));
        if (status.latest.second < (rows.at(-1)?.second ?? 0)) rows = [];
        rows = await newRows(rows, left.signal);
        setRun({ status, rows, reachable: true });
      } catch {
        if (left.signal.aborted) return;
        setRun((before) => ({ ...before, reachable: false }));
      }
      timer = window.setTimeout(() => void ask(), INTERVAL_MS);
    }

    void ask();
    return () => {
      left.abort();
      window.clearTimeout(timer);
    };
  }, []);

  return run;
}

async function newRows(known: readonly Row[], signal: AbortSignal): Promise<readonly Row[]> {
  let rows = known;
  for (;;) {
    const since = rows.at(-1)?.second ?? 0;
    const newer = parseRows(await json(`/api/series?since=${since}`, signal));
    rows = merge(rows, newer);
    if (newer.length < ROWS_PER_ANSWER) return rows;
  }
}

async function json(path: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(path, { signal });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}
