import { useEffect } from "preact/hooks";

/** What the keys are called for assistive technology, as `aria-keyshortcuts` has them. */
export const SEARCH_KEYS = "Control+K Meta+K /";

/** Ctrl+K and ⌘K search from everywhere, `/` where nothing is written. */
export function useSearchKeys(search: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey;
      const isMeant = isSearchKey(event) || (isSlash && !isWritten(event.target));
      // What a dialog asks is to be answered first.
      if (!isMeant || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      search();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => { document.removeEventListener("keydown", onKeyDown); };
  }, [search]);
}

export function isSearchKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey) && !altKey && !shiftKey && key.toLowerCase() === "k";
}

function isWritten(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input, textarea");
}
