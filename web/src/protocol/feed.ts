import type { Answer } from "./ask";
import type { RoomEvent } from "./events";
import { parsePage, type Joined } from "./joined";
import type { Message } from "./message";
import { Order } from "./order";

/** Messages at once, of those that were missed. */
const MISSED_MAX = 200;

export type Ask = (event: string, payload: object) => Promise<Answer>;

/**
 * What is heard of a room's talk, made whole: messages in the order of their places, and changes in the order of the
 * room's revisions. What was lost on the way is asked for. It keeps a position and no history.
 */
export class Feed {
  readonly #ask: Ask;
  readonly #emit: (event: RoomEvent) => void;
  readonly #order = new Order();
  #stood: { readonly epoch: string; readonly revision: number } | undefined;
  /** Counts the joins: an answer to what was asked before the last one is none any more. */
  #visit = 0;
  #filling = false;
  #mending = false;

  constructor(ask: Ask, emit: (event: RoomEvent) => void) {
    this.#ask = ask;
    this.#emit = emit;
  }

  /** What a join says, so that it brings what was missed. */
  get position(): object {
    return this.#stood === undefined ? {} : { recover: { ...this.#stood, seq: this.#order.last } };
  }

  /** The room was joined, for the first time or again. */
  stand(joined: Joined): void {
    this.#visit += 1;
    this.#filling = false;
    this.#mending = false;
    const { epoch, messages, conversation } = joined;
    this.#stood = { epoch, revision: conversation.revision };
    if (joined.recovered) {
      this.arrived(messages);
      for (const message of joined.changed) this.#emit({ type: "changed", message });
    } else {
      this.#order.startAfter(Math.max(conversation.last, messages.at(-1)?.seq ?? 0));
      this.#emit({ type: "page", messages, first: conversation.first, last: conversation.last });
    }
  }

  /** Messages came, in whatever order. */
  arrived(messages: readonly Message[]): void {
    this.#tell(messages.flatMap((message) => this.#order.take(message)));
    if (this.#order.hasHole) void this.#fill();
  }

  /** The room's newest place is `seq`: something may have been lost. */
  head(seq: number): void {
    if (seq > this.#order.last) void this.#fill();
  }

  /** A change that was told brought the room to `revision`. */
  changedTo(revision: number): void {
    if (this.#stood === undefined || revision <= this.#stood.revision) return;
    if (revision === this.#stood.revision + 1) this.#stood = { ...this.#stood, revision };
    else void this.#mend();
  }

  /** Brings the places after the last one, as long as that brings anything. */
  async #fill(): Promise<void> {
    if (this.#filling) return;
    this.#filling = true;
    const visit = this.#visit;
    for (let going = true; going; ) {
      const before = this.#order.last;
      const answer = await this.#ask("history", { after: before, limit: MISSED_MAX });
      if (visit !== this.#visit) return;
      const page = answer.ok ? parsePage(answer.response) : undefined;
      if (page !== undefined) {
        this.#tell(this.#order.skipTo(page.conversation.first));
        this.#tell(page.messages.flatMap((message) => this.#order.take(message)));
      }
      going = (page?.more === true || this.#order.hasHole) && this.#order.last > before;
    }
    this.#filling = false;
  }

  /** Brings the changes after the last one, as long as that brings anything. */
  async #mend(): Promise<void> {
    if (this.#mending) return;
    this.#mending = true;
    const visit = this.#visit;
    for (let going = true; going; ) {
      const since = this.#stood?.revision ?? 0;
      const answer = await this.#ask("history", { changed: since, limit: MISSED_MAX });
      if (visit !== this.#visit) return;
      const page = answer.ok ? parsePage(answer.response) : undefined;
      for (const message of page?.messages ?? []) this.#emit({ type: "changed", message });
      const reached = page?.more === true ? page.messages.at(-1)?.revision : page?.conversation.revision;
      if (this.#stood !== undefined && reached !== undefined && reached > since) {
        this.#stood = { ...this.#stood, revision: reached };
      }
      going = page?.more === true && reached !== undefined && reached > since;
    }
    this.#mending = false;
  }

  #tell(messages: readonly Message[]): void {
    for (const message of messages) this.#emit({ type: "said", message });
  }
}
