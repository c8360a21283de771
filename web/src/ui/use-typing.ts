import { useCallback, useEffect, useRef } from "preact/hooks";
import { TypingSignal } from "../room/typing-signal";

/** Who pauses for so long does not type. */
const PAUSE_MS = 5000;

/** Tells the others that one types, while one does. `typed` takes what stands in the field. */
export function useTyping(online: boolean, tell: (on: boolean) => void): (text: string) => void {
  const signal = useRef(new TypingSignal());
  const pausing = useRef<ReturnType<typeof setTimeout>>(undefined);

  const stop = useCallback(() => {
    clearTimeout(pausing.current);
    if (signal.current.stopped()) tell(false);
  }, [tell]);

  // A connection that is lost ends it for the others by itself.
  useEffect(() => {
    const told = signal.current;
    if (!online) told.stopped();
    return () => { clearTimeout(pausing.current); };
  }, [online]);

  return useCallback(
    (text: string) => {
      if (!online) return;
      if (text.trim() === "") {
        stop();
        return;
      }
      if (signal.current.typed(Date.now())) tell(true);
      clearTimeout(pausing.current);
      pausing.current = setTimeout(stop, PAUSE_MS);
    },
    [online, stop, tell],
  );
}
