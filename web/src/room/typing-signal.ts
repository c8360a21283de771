/** So often the others are told that one still types; the server passes on one a second. */
const REPEAT_MS = 3000;

/** When the others are to be told that one types. It reads no clock. */
export class TypingSignal {
  #toldAt: number | undefined;

  /** Something was typed. Whether the others are to be told. */
  typed(nowMs: number): boolean {
    if (this.#toldAt !== undefined && nowMs - this.#toldAt < REPEAT_MS) return false;
    this.#toldAt = nowMs;
    return true;
  }

  /** It was sent, given up or left alone. Whether the others are to be told. */
  stopped(): boolean {
    const wasTold = this.#toldAt !== undefined;
    this.#toldAt = undefined;
    return wasTold;
  }
}
