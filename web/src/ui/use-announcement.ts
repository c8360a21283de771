import { useEffect, useRef, useState } from "preact/hooks";
import type { Messages } from "../room/messages";
import { nameOf, type Names } from "../room/names";

export type Announcement = { readonly seq: number; readonly words: string };

/** What a screen reader is to say of what others said just now: not of history, which comes in as well. */
export function useAnnouncement(
  { shown, newest }: Messages,
  names: Names,
  me: string | undefined,
): Announcement | undefined {
  const announced = useRef<number>(undefined);
  const [words, setWords] = useState<Announcement>();
  const last = shown.at(-1);

  // A name that is learnt later, or a reaction, is no news: only a newer message is.
  useEffect(() => {
    if (me === undefined) return;
    const known = announced.current;
    announced.current = newest;
    if (known === undefined || newest <= known) return;
    if (newest - known > 1 || last?.seq !== newest) setWords({ seq: newest, words: `${newest - known} new messages` });
    else if (last.sender !== me) setWords({ seq: newest, words: `${nameOf(names, last.sender)}: ${last.text}` });
  }, [newest, me]);

  return words;
}
