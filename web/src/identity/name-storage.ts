import { checkName } from "./name";

const STORAGE_KEY = "throng:name";

/** The name of the last visit. Storage may be switched off: then each visit asks. */
export function loadName(): string | undefined {
  try {
    const check = checkName(localStorage.getItem(STORAGE_KEY) ?? "");
    return check.ok ? check.name : undefined;
  } catch {
    return undefined;
  }
}

export function saveName(name: string): void {
  try {
    localStorage.setItem(STORAGE_KEY, name);
  } catch {
    // The name then lasts as long as the page.
  }
}
