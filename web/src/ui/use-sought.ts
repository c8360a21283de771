import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/** So long a message to which the reader was led stands out. */
const SHOWN_MS = 2500;

/** The message to which the reader was led just now. */
export function useSought(): [number | undefined, (seq: number) => void] {
  const [sought, setSought] = useState<number>();
  const fading = useRef<ReturnType<typeof setTimeout>>(undefined);

  useEffect(() => () => { clearTimeout(fading.current); }, []);

  const seek = useCallback((seq: number) => {
    clearTimeout(fading.current);
    setSought(seq);
    fading.current = setTimeout(() => { setSought(undefined); }, SHOWN_MS);
  }, []);
  return [sought, seek];
}
