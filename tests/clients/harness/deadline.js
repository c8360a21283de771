import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

/** Far beyond what anything here takes: a test waits for an event; the deadline only names the one that is missing. */
const DEADLINE_MS = 20_000;

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
export async function eventually(look, wanted, deadlineMs = DEADLINE_MS) {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (isDeepStrictEqual(seen, wanted)) return;
    if (performance.now() > end) assert.deepEqual(seen, wanted, `not within ${deadlineMs} ms`);
    await pause(50);
  }
}

/** Does it until it succeeds; past the deadline with the error of the last time. */
export async function repeatedly(attempt, deadlineMs = DEADLINE_MS) {
  const end = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}
