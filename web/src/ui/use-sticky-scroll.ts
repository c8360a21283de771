import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** This close to the end counts as the end. */
const END_PX = 48;

export type StickyScroll = {
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** How many messages came since the reader left the end. */
  readonly unseen: number;
  readonly toEnd: () => void;
};

/**
 * Keeps the newest message in view, unless the reader scrolled up to read.
 * `arrived` counts every message that ever came at the end, `first` is the one that the list begins with.
 */
export function useStickyScroll(arrived: number, first: number | undefined): StickyScroll {
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const seen = useRef(arrived);
  const height = useRef(0);
  if (atEnd) seen.current = arrived;

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
  }, [atEnd, arrived]);

  // What comes in at the beginning pushes the rest down: what is being read stays where it is.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element) element.scrollTop += element.scrollHeight - height.current;
  }, [first]);

  useLayoutEffect(() => {
    height.current = scroller.current?.scrollHeight ?? 0;
  });

  // A soft keyboard or a growing composer takes height away: the end stays in view.
  useEffect(() => {
    const element = scroller.current;
    if (!element || !atEnd) return;
    const observer = new ResizeObserver(() => { scrollToEnd(element); });
    observer.observe(element);
    return () => { observer.disconnect(); };
  }, [atEnd]);

  return { scroller, unseen: arrived - seen.current, toEnd: () => { scrollToEnd(scroller.current); } };
}

function scrollToEnd(element: HTMLElement | null): void {
  if (element) element.scrollTop = element.scrollHeight;
}
