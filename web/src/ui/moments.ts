const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const clockWithSeconds = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });
const both = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** In milliseconds of Unix time, as in all of these: the hour and the minute. */
export function timeOf(ms: number): string {
  return clock.format(ms);
}

/** To the second. */
export function secondOf(ms: number): string {
  return clockWithSeconds.format(ms);
}

export function dayOf(ms: number): string {
  return calendar.format(ms);
}

/** Day and time; today, the time alone. */
export function momentOf(ms: number): string {
  return dayOf(ms) === dayOf(Date.now()) ? timeOf(ms) : both.format(ms);
}
