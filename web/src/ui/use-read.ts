import { useEffect } from "preact/hooks";

/** What comes within this time is one reading. */
const SETTLE_MS = 1000;

/** Tells that everything up to `seq` was seen, while the page is looked at. */
export function useRead(seq: number | undefined, online: boolean, read: (seq: number) => void): void {
  useEffect(() => {
    if (seq === undefined || !online) return;
    let settling: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      clearTimeout(settling);
      if (!document.hidden) settling = setTimeout(() => { read(seq); }, SETTLE_MS);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(settling);
      document.removeEventListener("visibilitychange", look);
    };
  }, [seq, online, read]);
}
