import type { Answer } from "./ask";
import type { RoomEvent } from "./events";
import { parsePage, type Page } from "./joined";
import type { Message } from "./message";
import { Order } from "./order";

/** Messages at once, of those that were missed. */
const MISSED_MAX = 200;
/** Places or changes that are brought one page after the other; more are not read in one go, and the newest page is shown instead. */
const BEHIND_MAX = 1000;
/** Changes of messages that wait for their turn. */
const EARLY_MAX = 1000;
/** When what could not be brought is asked for again. */
const RETRY_MS = 3000;
/** How often, while nothing comes of it; then it is left to the next message or join. */
const RETRIES_MAX = 20;

export type Ask = (event: string, payload: object) => Promise<Answer>;

/** Where a conversation stands, told by the answer to a join or by its newest page. */
export type Standpoint = Pick<Page, "messages" | "conversation"> & {
  readonly epoch: string;
  /** Whether the messages are exactly those that were missed. */
  readonly recovered: boolean;
  /** Why they are not. */
  readonly reason: string | undefined;
  readonly changed: readonly Message[];
};

/**
 * What is heard of a conversation, made whole: messages in the order of their places, each followed by its changes, and
 * changes in the order of the conversation's revisions. What was lost on the way is asked for, until it is here. It keeps
 * a position and no history.
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
  /** The newest place that was heard of. */
  #head = 0;
  /** The newest revision that was heard of. */
  #reach = 0;
  /** Changes of messages that have not had their turn. */
  #early: { readonly seq: number; readonly event: RoomEvent }[] = [];
  #retrying: ReturnType<typeof setTimeout> | undefined;
  #retries = 0;
  /** When changes will be asked for, if they are not now. */
  #mendDue: ReturnType<typeof setTimeout> | undefined;
  #mendRetries = 0;

  constructor(ask: Ask, emit: (event: RoomEvent) => void) {
    this.#ask = ask;
    this.#emit = emit;
  }

  /** What a join says, so that it brings what was missed. */
  get position(): object {
    return this.#stood === undefined ? {} : { recover: { ...this.#stood, seq: this.#order.last } };
  }

  get epoch(): string | undefined {
    return this.#stood?.epoch;
  }

  /** It was joined, for the first time or again. */
  stand(at: Standpoint): void {
    this.rest();
    const { epoch, messages, conversation } = at;
    const lost = this.#stood === undefined ? undefined : (at.reason ?? "unknown");
    this.#stood = { epoch, revision: conversation.revision };
    this.#reach = conversation.revision;
    if (at.recovered) {
      this.arrived(messages);
      for (const message of at.changed) this.#change({ type: "changed", message }, message.seq);
      this.head(conversation.last);
    } else {
      this.#begin(at, lost);
    }
  }

  /** Nothing is heard any more, for now: what was asked for is not waited for. */
  rest(): void {
    this.#visit += 1;
    this.#filling = false;
    this.#mending = false;
    this.#retries = 0;
    this.#mendRetries = 0;
    clearTimeout(this.#retrying);
    this.#forgetMendDue();
  }

  /** Messages came, in whatever order. */
  arrived(messages: readonly Message[]): void {
    for (const { seq } of messages) this.#head = Math.max(this.#head, seq);
    this.#tell(this.#order.take(...messages));
    if (this.#order.hasHole) void this.#fill();
  }

  /** The newest place is `seq`: something may have been lost. */
  head(seq: number): void {
    this.#head = Math.max(this.#head, seq);
    if (seq > this.#order.last) void this.#fill();
  }

  /** A change of the message at `seq` was told, that brought the conversation to `revision`. */
  changed(event: RoomEvent, seq: number, revision: number): void {
    this.#change(event, seq);
    if (this.#stood?.revision === revision - 1) this.#stood = { ...this.#stood, revision };
    else this.standsAt(revision, 0);
  }

  /**
   * The conversation is at `revision`: changes that were not told are asked for, at a random moment within so many
   * milliseconds. Where many are told so at once, they do not all ask at once.
   */
  standsAt(revision: number, withinMs: number): void {
    if (this.#stood === undefined || revision <= this.#stood.revision) return;
    this.#reach = Math.max(this.#reach, revision);
    if (withinMs === 0) void this.#mend();
    else if (!this.#mending && this.#mendDue === undefined) this.#mendIn(Math.random() * withinMs);
  }

  /** The newest page takes the place of everything. */
  #begin({ messages, conversation }: Pick<Page, "messages" | "conversation">, lost: string | undefined): void {
    const last = Math.max(conversation.last, messages.at(-1)?.seq ?? 0);
    this.#order.startAfter(last);
    this.#head = last;
    this.#early = [];
    this.#emit({ type: "page", messages, first: conversation.first, last: conversation.last, lost });
  }

  /** Brings the places after the last one. What does not come is asked for again by and by. */
  async #fill(): Promise<void> {
    if (this.#filling) return;
    this.#filling = true;
    clearTimeout(this.#retrying);
    const [visit, start] = [this.#visit, this.#order.last];
    for (let going = true; going; ) {
      const before = this.#order.last;
      const isFar = this.#head - before > BEHIND_MAX;
      const answer = await this.#ask("history", isFar ? {} : { after: before, limit: MISSED_MAX });
      if (visit !== this.#visit) return;
      const page = answer.ok ? parsePage(answer.response) : undefined;
      if (page !== undefined && isFar) {
        this.#begin(page, "too_many");
      } else if (page !== undefined) {
        this.#tell(this.#order.skipTo(page.conversation.first));
        this.#tell(this.#order.take(...page.messages));
      }
      going = (page?.more === true || this.#order.hasHole) && this.#order.last > before;
    }
    this.#filling = false;
    this.#retries = this.#order.last > start ? 0 : this.#retries + 1;
    if (this.#order.last < this.#head && this.#retries <= RETRIES_MAX) {
      this.#retrying = setTimeout(() => void this.#fill(), RETRY_MS);
    }
  }

  /** Whether there are changes that were heard of and have not come. */
  get #lacksChanges(): boolean {
    return this.#stood !== undefined && this.#stood.revision < this.#reach;
  }

  /** Brings the changes after the last one. What does not come is asked for again by and by. */
  async #mend(): Promise<void> {
    if (this.#mending) return;
    this.#forgetMendDue();
    this.#mending = true;
    const [visit, start] = [this.#visit, this.#stood?.revision ?? 0];
    for (let going = this.#lacksChanges; going; ) {
      const since = this.#stood?.revision ?? 0;
      const isFar = this.#reach - since > BEHIND_MAX;
      const answer = await this.#ask("history", isFar ? {} : { changed: since, limit: MISSED_MAX });
      if (visit !== this.#visit) return;
      const page = answer.ok ? parsePage(answer.response) : undefined;
      if (page !== undefined) this.#mended(page, isFar);
      // More may have been heard of, or told, while this was on its way.
      going = page !== undefined && this.#lacksChanges && (this.#stood?.revision ?? 0) > since;
    }
    this.#mending = false;
    const isFutile = this.#lacksChanges && this.#stood?.revision === start;
    this.#mendRetries = isFutile ? this.#mendRetries + 1 : 0;
    if (this.#lacksChanges && this.#mendRetries <= RETRIES_MAX) this.#mendIn(RETRY_MS);
  }

  /** A page came: of changes, or where there were too many of them the newest. */
  #mended(page: Page, isNewest: boolean): void {
    const { messages, more, conversation } = page;
    if (isNewest) this.#begin(page, "too_many");
    else for (const message of messages) this.#change({ type: "changed", message }, message.seq);
    const reached = more && !isNewest ? messages.at(-1)?.revision : conversation.revision;
    this.#reach = Math.max(this.#reach, conversation.revision);
    if (this.#stood !== undefined && reached !== undefined && reached > this.#stood.revision) {
      this.#stood = { ...this.#stood, revision: reached };
    }
  }

  #mendIn(ms: number): void {
    this.#mendDue = setTimeout(() => void this.#mend(), ms);
  }

  #forgetMendDue(): void {
    clearTimeout(this.#mendDue);
    this.#mendDue = undefined;
  }

  #tell(messages: readonly Message[]): void {
    for (const message of messages) this.#emit({ type: "said", message });
    if (messages.length === 0 || this.#early.length === 0) return;
    const due = this.#early.filter(({ seq }) => seq <= this.#order.last);
    this.#early = this.#early.filter(({ seq }) => seq > this.#order.last);
    for (const { event } of due) this.#emit(event);
  }

  /** A change says nothing to who does not know the message yet. */
  #change(event: RoomEvent, seq: number): void {
    if (seq <= this.#order.last) this.#emit(event);
    else if (this.#early.length < EARLY_MAX) this.#early.push({ seq, event });
  }
}
