import { useEffect, useRef } from "preact/hooks";
import type { RoomAction } from "../room/state";

/** What comes within this time is one reading. */
const SETTLE_MS = 1000;

export type Looking = {
  /** The newest message that stands before the reader; `undefined` if they are further up. */
  readonly seq: number | undefined;
  /** The newest message that is there. */
  readonly newest: number;
  readonly online: boolean;
  readonly note: (action: RoomAction) => void;
  /** Tells the server. */
  readonly read: (seq: number) => void;
};

/** Notes what is before the reader's eyes, and when they look away. */
export function useLooking({ seq, newest, online, note, read }: Looking): void {
  const known = useRef(newest);
  known.current = newest;
  /** What was seen, and of which the server was not told yet. */
  const untold = useRef<number>(undefined);
  const tell = useRef(read);
  tell.current = read;

  useEffect(() => {
    const look = (): void => {
      note(document.hidden ? { type: "looked_away" } : { type: "looked_back", newest: known.current });
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      // Another talk is shown in the place of this one.
      if (untold.current !== undefined) tell.current(untold.current);
      note({ type: "looked_away" });
    };
  }, [note]);

  useEffect(() => {
    if (seq === undefined || !online) return;
    let settling: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      clearTimeout(settling);
      if (document.hidden) return;
      note({ type: "seen", seq });
      untold.current = seq;
      settling = setTimeout(() => {
        untold.current = undefined;
        read(seq);
      }, SETTLE_MS);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(settling);
      document.removeEventListener("visibilitychange", look);
    };
  }, [seq, online, note, read]);
}
