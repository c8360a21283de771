import { useEffect, useRef } from "preact/hooks";

/**
 * Lets one send what was written before the conversation is open: it goes out as soon as that is possible, unless it is
 * changed before, or the connection is lost.
 *
 * @returns what is to be called when one wants to send and cannot yet.
 */
export function useEarlySend(text: string, opening: boolean, sendable: boolean, send: () => void): () => void {
  const wanted = useRef<string>(undefined);

  useEffect(() => {
    if (wanted.current === undefined) return;
    const stands = wanted.current === text && (opening || sendable);
    if (stands && !sendable) return;
    wanted.current = undefined;
    if (stands) send();
  }, [text, opening, sendable]);

  return () => { if (opening) wanted.current = text; };
}
