import { itemOf } from "./anchor";
import { seqOf } from "./use-active";

/** What can be done to a message by a key; `choose` goes to its actions. */
export type ListAction = "reply" | "edit" | "delete" | "choose";

export type ListKeys = {
  /** Back to where one writes. */
  readonly onLeave: () => void;
  readonly onAction: (seq: number, action: ListAction) => void;
};

/** The keys that work while a message has the focus. */
const ACTIONS: Readonly<Record<string, ListAction>> = {
  r: "reply",
  e: "edit",
  Delete: "delete",
  Enter: "choose",
};

/** The list by keyboard: ↑ and ↓ go from message to message, Escape and ↓ behind the last one go back to writing. */
export function handleListKey(event: KeyboardEvent, list: HTMLElement, { onLeave, onAction }: ListKeys): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const seq = seqOf(event.target);
  const item = seq === undefined ? null : itemOf(list, seq);
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    event.preventDefault();
    const next = neighbour(list, item, event.key === "ArrowUp" ? -1 : 1);
    if (next !== undefined) focusItem(next);
    else if (event.key === "ArrowDown") onLeave();
  } else if (event.key === "Escape") {
    onLeave();
  } else if (seq !== undefined && event.target === item) {
    const action = ACTIONS[event.key];
    if (action === undefined) return;
    event.preventDefault();
    onAction(seq, action);
  }
}

/** A message takes the focus only from here: a click on it is for its text. */
export function focusItem(item: HTMLElement): void {
  item.tabIndex = -1;
  item.focus();
  item.addEventListener("blur", () => { item.removeAttribute("tabindex"); }, { once: true });
}

/** From nowhere, up leads to the last one. */
function neighbour(list: HTMLElement, item: HTMLElement | null, step: -1 | 1): HTMLElement | undefined {
  const items = Array.from(list.querySelectorAll<HTMLElement>("[data-seq]"));
  if (item === null) return step === -1 ? items.at(-1) : undefined;
  return items[items.indexOf(item) + step];
}
