import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Where } from "../protocol/events";
import { hasEarlier, hasLater, type Messages } from "../room/messages";
import { anchorIn, hold, itemOf, toEnd, type Anchor } from "./anchor";

/** This close to the end counts as the end. */
const END_PX = 48;
/** This close to what is not here yet it is asked for. */
const NEAR_PX = 400;

export type ScrollOptions = {
  readonly messages: Messages;
  /** Whether anything can be asked for. */
  readonly live: boolean;
  readonly bring: (where: Where, seq: number) => void;
  /** The reader came to the end, or left it. */
  readonly follow: (on: boolean) => void;
  /** A message that was sought is in view. */
  readonly reached: (seq: number, list: HTMLElement) => void;
};

export type Scroll = {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly goToEnd: () => void;
  readonly goTo: (seq: number) => void;
};

/**
 * Keeps the newest message in view while the reader is at the end, and what is being read where it stands while they are
 * not: whatever comes, changes or goes above or below. Asks for older and newer messages before they are reached.
 */
export function useScroll(options: ScrollOptions): Scroll {
  const scroller = useRef<HTMLDivElement>(null);
  const latest = useRef(options);
  latest.current = options;
  const anchor = useRef<Anchor>(undefined);
  const atEnd = useRef(true);
  const begun = useRef(false);
  const sought = useRef<number | "end">(undefined);

  const look = useCallback((element: HTMLElement) => {
    const { messages, live, bring, follow } = latest.current;
    anchor.current = anchorIn(element);
    atEnd.current = toEnd(element) <= END_PX && !hasLater(messages);
    if (atEnd.current !== messages.following) follow(atEnd.current);
    const [oldest, newest] = [messages.shown[0], messages.shown.at(-1)];
    if (!live || messages.asked !== undefined || sought.current !== undefined) return;
    if (oldest !== undefined && hasEarlier(messages) && element.scrollTop < NEAR_PX) bring("earlier", oldest.seq);
    else if (newest !== undefined && hasLater(messages) && toEnd(element) < NEAR_PX) bring("later", newest.seq);
  }, []);

  const settle = useCallback((element: HTMLElement) => {
    const { messages, reached } = latest.current;
    const target = typeof sought.current === "number" ? itemOf(element, sought.current) : undefined;
    if (target) {
      target.scrollIntoView({ block: "center" });
      reached(Number(target.dataset["seq"]), element);
      sought.current = undefined;
    } else if (atEnd.current || sought.current === "end" || !anchor.current || !hold(element, anchor.current)) {
      element.scrollTop = element.scrollHeight;
    }
    // What was sought has come, or is not to be had.
    if (messages.asked === undefined || messages.asked.failed) sought.current = undefined;
    if (!begun.current && messages.shown.length > 0) {
      begun.current = true;
      showWhatIsNew(element);
    }
    look(element);
  }, [look]);

  useLayoutEffect(() => {
    if (scroller.current) settle(scroller.current);
  }, [options.messages, settle]);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const onScroll = (): void => { look(element); };
    // A soft keyboard or a growing composer takes height away, another width breaks lines elsewhere.
    const observer = new ResizeObserver(() => { settle(element); });
    observer.observe(element);
    // A font that comes late, or a zoom, makes messages higher.
    const list = element.querySelector(".messages-list");
    if (list) observer.observe(list);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", onScroll);
    };
  }, [look, settle]);

  const goToEnd = useCallback(() => {
    if (hasLater(latest.current.messages)) {
      sought.current = "end";
      latest.current.bring("newest", 0);
      return;
    }
    atEnd.current = true;
    if (scroller.current) settle(scroller.current);
  }, [settle]);

  const goTo = useCallback((seq: number) => {
    sought.current = seq;
    const element = scroller.current;
    if (element && itemOf(element, seq)) settle(element);
    else latest.current.bring("around", seq);
  }, [settle]);

  return useMemo(() => ({ scroller, goToEnd, goTo }), [goToEnd, goTo]);
}

/** Who comes back begins to read where what is new begins. */
function showWhatIsNew(element: HTMLElement): void {
  const divider = element.querySelector(".new-messages");
  if (divider === null) return;
  const above = divider.getBoundingClientRect().top - element.getBoundingClientRect().top;
  if (above < 0) element.scrollTop += above - element.clientHeight / 4;
}
