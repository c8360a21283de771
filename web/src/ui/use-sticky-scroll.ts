import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** This close to the end counts as the end. */
const END_PX = 48;

export type StickyScroll = {
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** How many entries came since the reader left the end. */
  readonly unseen: number;
  readonly toEnd: () => void;
};

/**
 * Keeps the newest entry in view, unless the reader scrolled up to read.
 * `nextId` counts every entry that ever came.
 */
export function useStickyScroll(nextId: number): StickyScroll {
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const seenId = useRef(nextId);
  if (atEnd) seenId.current = nextId;

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = (): void => {
      setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight <= END_PX);
    };
    element.addEventListener("scroll", measure, { passive: true });
    return () => { element.removeEventListener("scroll", measure); };
  }, []);

  useLayoutEffect(() => {
    if (atEnd) scrollToEnd(scroller.current);
  }, [atEnd, nextId]);

  // A soft keyboard or a growing composer takes height away: the end stays in view.
  useEffect(() => {
    const element = scroller.current;
    if (!element || !atEnd) return;
    const observer = new ResizeObserver(() => { scrollToEnd(element); });
    observer.observe(element);
    return () => { observer.disconnect(); };
  }, [atEnd]);

  return { scroller, unseen: nextId - seenId.current, toEnd: () => { scrollToEnd(scroller.current); } };
}

function scrollToEnd(element: HTMLElement | null): void {
  if (element) element.scrollTop = element.scrollHeight;
}
