import { useEffect } from "preact/hooks";
import { hasUnsent, type Outbox } from "../room/outbox";

/** Asks before the page is left while something that was written is nowhere else. */
export function useLeaving(outbox: Outbox): void {
  const unsent = hasUnsent(outbox);
  useEffect(() => {
    if (!unsent) return;
    const hold = (event: BeforeUnloadEvent): void => { event.preventDefault(); };
    window.addEventListener("beforeunload", hold);
    return () => { window.removeEventListener("beforeunload", hold); };
  }, [unsent]);
}
