import { useEffect } from "preact/hooks";
import type { Outbox } from "../room/outbox";

/** Asks before the page is left while something that was written is nowhere else. */
export function useLeaving(outbox: Outbox): void {
  const unsent = outbox.some(({ status }) => status.kind !== "stored");
  useEffect(() => {
    if (!unsent) return;
    const hold = (event: BeforeUnloadEvent): void => { event.preventDefault(); };
    window.addEventListener("beforeunload", hold);
    return () => { window.removeEventListener("beforeunload", hold); };
  }, [unsent]);
}
