import type { Message } from "./message";

/** Messages that came before their turn, until those between are there. */
const AHEAD_MAX = 1000;

/**
 * Puts messages into the order of their places, which have no holes: what jumps ahead is kept back until the places
 * between are brought; what is known is the same message and is dropped.
 */
export class Order {
  #last = 0;
  #ahead = new Map<number, Message>();

  /** The newest place that was handed on. */
  get last(): number {
    return this.#last;
  }

  /** Whether places are missing before something that came. */
  get hasHole(): boolean {
    return this.#ahead.size > 0;
  }

  /** A page took the place of everything: it ends at `last`. */
  startAfter(last: number): void {
    this.#last = last;
    this.#ahead.clear();
  }

  /** The messages whose turn it is now, in order. */
  take(...messages: readonly Message[]): Message[] {
    for (const message of messages) {
      const { seq, revision } = message;
      const waiting = this.#ahead.get(seq);
      // What waits may have been edited since: the newer one goes on.
      if (seq <= this.#last || (waiting !== undefined && waiting.revision >= revision)) continue;
      if (waiting !== undefined || this.#ahead.size < AHEAD_MAX || seq === this.#last + 1) this.#ahead.set(seq, message);
    }
    return this.#turn();
  }

  /** Nothing before `first` is kept any more, and nobody waits for it. The messages whose turn it is then. */
  skipTo(first: number): Message[] {
    if (first - 1 <= this.#last) return [];
    this.#last = first - 1;
    for (const seq of this.#ahead.keys()) if (seq <= this.#last) this.#ahead.delete(seq);
    return this.#turn();
  }

  #turn(): Message[] {
    const turn: Message[] = [];
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#ahead.delete(next.seq);
      this.#last = next.seq;
      turn.push(next);
    }
    return turn;
  }

  #next(): Message | undefined {
    return this.#ahead.get(this.#last + 1);
  }
}
