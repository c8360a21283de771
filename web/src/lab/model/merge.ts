import type { Row } from "./wire";

/** What the server keeps, and so what the page keeps: two hours. */
export const ROWS_MAX = 7200;

/** Known rows with newer ones: a second that comes again replaces what was known of it. */
export function merge(known: readonly Row[], newer: readonly Row[]): Row[] {
  const first = newer[0];
  if (!first) return [...known];
  return [...known.filter((row) => row.second < first.second), ...newer].slice(-ROWS_MAX);
}
