/** What was written and not sent, of each conversation: it outlives a reload of this tab, and no more. */

/** A longer draft is not kept: it could not be sent either. */
const LENGTH_MAX = 16 * 1024;

export function loadDraft(place: string): string {
  try {
    return sessionStorage.getItem(keyOf(place)) ?? "";
  } catch {
    return "";
  }
}

export function saveDraft(place: string, text: string): void {
  try {
    if (text === "" || text.length > LENGTH_MAX) sessionStorage.removeItem(keyOf(place));
    else sessionStorage.setItem(keyOf(place), text);
  } catch {
    // Storage is switched off or full: the draft lasts as long as the page.
  }
}

function keyOf(place: string): string {
  return `throng:draft:${place}`;
}
