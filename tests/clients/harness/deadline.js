import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** Far beyond what anything here takes: a test waits for an event; the deadline only names the one that is missing. */
export const DEADLINE_MS = 120_000;

/** Waits for `promise`; past the deadline the error says what was awaited. */
export async function within(promise, what, deadlineMs = DEADLINE_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${deadlineMs} ms: ${what}`)), deadlineMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Looks until what is seen is what is wanted; past the deadline the error says how they differ. */
export function eventually(look, wanted) {
  return repeatedly(async () => { assert.deepEqual(await look(), wanted); });
}

/** Does it until it succeeds; past the deadline with the error of the last time. */
export async function repeatedly(attempt, deadlineMs = DEADLINE_MS) {
  const end = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
      await pause(50);
    }
  }
}
