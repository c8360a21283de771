/** What is being read: a message, and where it stands in the window. */
export type Anchor = { readonly seq: string; readonly top: number };

/** The topmost message that is in view. */
export function anchorIn(scroller: HTMLElement): Anchor | undefined {
  const { top } = scroller.getBoundingClientRect();
  const messages = scroller.querySelectorAll<HTMLElement>("[data-seq]");
  // They stand below one another: the first whose end is in view is found by halving.
  let [low, high] = [0, messages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((messages[middle]?.getBoundingClientRect().bottom ?? 0) > top) high = middle;
    else low = middle + 1;
  }
  const found = messages[low];
  const seq = found?.dataset["seq"];
  return found === undefined || seq === undefined ? undefined : { seq, top: textTop(found) - top };
}

/** Scrolls so that the message stands where it stood. Whether it is still there. */
export function hold(scroller: HTMLElement, { seq, top }: Anchor): boolean {
  const message = itemOf(scroller, seq);
  if (message === null) return false;
  const moved = textTop(message) - scroller.getBoundingClientRect().top - top;
  if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
  return true;
}

/** Where a message's text stands: its author above it goes when earlier messages of the same author come. */
function textTop(message: HTMLElement): number {
  return (message.querySelector(".message-body") ?? message).getBoundingClientRect().top;
}

/** The element of a message. */
export function itemOf(scroller: HTMLElement, seq: number | string): HTMLElement | null {
  return scroller.querySelector<HTMLElement>(`[data-seq="${seq}"]`);
}

/** How far the end is below the view, in pixels. */
export function toEnd(scroller: HTMLElement): number {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
}
