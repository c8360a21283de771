import type { Draft } from "../protocol/talk";

/** What becomes of those in the line. */
export type HeldLineEvents = {
  /** It is the first, and its time has come. It stays the first until it leaves, or is held again. */
  readonly go: (draft: Draft) => void;
  /** It does not go out before `until`, in milliseconds of Unix time. */
  readonly held: (id: string, until: number) => void;
};

/**
 * Messages that came too soon, and those written after them. Only the first has a time to wait for: the next one goes
 * out when the first has left, so that none overtakes another.
 */
export class HeldLine {
  readonly #events: HeldLineEvents;
  #drafts: Draft[] = [];
  #until = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(events: HeldLineEvents) {
    this.#events = events;
  }

  /** Puts it behind those that are held back, if there are any: false where nothing stands before it. */
  joinBehind(draft: Draft): boolean {
    const first = this.#drafts[0];
    if (first === undefined || first.id === draft.id) return false;
    this.#join(draft);
    this.#events.held(draft.id, this.#until);
    return true;
  }

  /** It came too soon, and is to wait so long; behind another it waits for that one. */
  hold(draft: Draft, waitMs: number): void {
    if (this.joinBehind(draft)) return;
    this.#join(draft);
    this.#until = Date.now() + waitMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { this.#goOn(); }, waitMs);
    for (const { id } of this.#drafts) this.#events.held(id, this.#until);
  }

  /** It was delivered, refused for good, or given up. */
  leave(id: string): void {
    const wasFirst = this.#drafts[0]?.id === id;
    this.#drafts = this.#drafts.filter((draft) => draft.id !== id);
    if (!wasFirst) return;
    clearTimeout(this.#timer);
    this.#goOn();
  }

  /** Nobody waits here any more. */
  disband(): readonly Draft[] {
    clearTimeout(this.#timer);
    return this.#drafts.splice(0);
  }

  #join(draft: Draft): void {
    if (!this.#drafts.some(({ id }) => id === draft.id)) this.#drafts.push(draft);
  }

  #goOn(): void {
    const first = this.#drafts[0];
    if (first !== undefined) this.#events.go(first);
  }
}
