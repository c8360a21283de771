import type { Message } from "./wire";

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
  take(message: Message): Message[] {
    if (message.seq <= this.#last) return [];
    if (this.#ahead.size < AHEAD_MAX || message.seq === this.#last + 1) this.#ahead.set(message.seq, message);
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
