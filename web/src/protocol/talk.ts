import type { Answer } from "./ask";
import { isRoom, parseConversation, type Conversation } from "./conversation";
import type { RoomEvent, Where } from "./events";
import { noAnswer, type Fault } from "./fault";
import { Feed, type Standpoint } from "./feed";
import { InTurn } from "./in-turn";
import { parsePage } from "./joined";
import { parseChanged, parseMessage, parseReacted, type Message } from "./message";
import { fields, place } from "./payload";
import { parseTyping } from "./person";
import { Typists } from "./typists";
import type { Wire } from "./wire";

/** Messages at once, of what is older or newer than what is known. */
const BROUGHT_MAX = 50;
/** Everybody who has a room open is told at once that something changed: within this time they ask for it. */
const ROOM_SPREAD_MS = 2000;

/** What somebody wants to say. */
export type Draft = {
  /** What the page calls the message: sent again under the same one, it is the same message. */
  readonly id: string;
  readonly text: string;
  readonly replyTo: number | undefined;
};

export type TalkNews = {
  readonly emit: (event: RoomEvent) => void;
  /** Who is met for the first time has no name yet. */
  readonly met: (person: string) => void;
  readonly isMe: (person: string) => boolean;
};

/** What is said in a conversation, and what becomes of it: what is heard goes to the owner, what is done is asked of the server. */
export class Talk {
  readonly #wire: Wire;
  readonly #news: TalkNews;
  readonly #feed: Feed;
  readonly #typists: Typists;
  readonly #quoting = new InTurn(1);

  constructor(wire: Wire, news: TalkNews) {
    this.#wire = wire;
    this.#news = news;
    this.#feed = new Feed(wire.ask, (event) => { this.#tell(event); });
    this.#typists = new Typists((person, on) => { news.emit({ type: "typing", person, on }); });
    this.#watchMessages();
    this.#watchTyping();
  }

  /** What a join says, so that it brings what was missed. */
  get position(): object {
    return this.#feed.position;
  }

  /** It was joined, for the first time or again. */
  stand(at: Standpoint): void {
    this.#typists.forget();
    this.#feed.stand(at);
  }

  /**
   * The same for what is not joined by itself: asks for the newest page the first time and where the store is another one,
   * else whether anything was missed. `answered` comes before that is told. Why it failed, if it did.
   */
  async catchUp(epoch: string, answered: (conversation: Conversation) => void): Promise<Fault | undefined> {
    const isKnown = this.#feed.epoch === epoch;
    const answer = await this.#wire.ask("history", { limit: isKnown ? 1 : BROUGHT_MAX });
    const page = answer.ok ? parsePage(answer.response) : undefined;
    if (page === undefined) return answer.ok ? noAnswer : answer.fault;
    this.#typists.forget();
    answered(page.conversation);
    if (isKnown) {
      this.#feed.head(page.conversation.last);
      this.#feed.standsAt(page.conversation.revision, 0);
    } else {
      this.#feed.stand({ ...page, epoch, recovered: false, reason: "epoch", changed: [] });
    }
    return undefined;
  }

  /** Nothing is heard any more, for now. */
  fallSilent(): void {
    this.#typists.forget();
    this.#feed.rest();
  }

  /** Nothing is heard any more, for good. */
  leave(): void {
    this.fallSilent();
    this.#wire.hangUp();
  }

  send({ id, text, replyTo }: Draft): Promise<Answer> {
    return this.#ask("msg:new", { text, client_id: id, ...(replyTo === undefined ? {} : { reply_to: replyTo }) });
  }

  /** Gives one's own message another text; whom it names stays. */
  edit({ seq, mentions }: Message, text: string): Promise<Answer> {
    return this.#change("msg:edit", { seq, text, mentions });
  }

  delete(seq: number): Promise<Answer> {
    return this.#change("msg:delete", { seq });
  }

  /** Gives a reaction, or takes it back. */
  react(seq: number, emoji: string, on: boolean): Promise<Answer> {
    return this.#change("react", { seq, emoji, on });
  }

  /** Tells the others that one types, or does no more. Nothing waits for that. */
  typing(on: boolean): void {
    this.#wire.tell("typing", { on });
  }

  /** Everything up to that place was seen. */
  read(seq: number): void {
    this.#wire.tell("read", { seq });
  }

  /** Asks for messages next to `seq`, around it, or the newest. `brought` or `not_brought` follows. */
  async bring(where: Where, seq: number): Promise<void> {
    const answer = await this.#ask("history", { ...whereabouts(where, seq), limit: BROUGHT_MAX });
    const page = answer.ok ? parsePage(answer.response) : undefined;
    if (page === undefined) {
      this.#tell({ type: "not_brought", where, fault: answer.ok ? noAnswer : answer.fault });
      return;
    }
    const { messages, conversation } = page;
    this.#tell({ type: "brought", where, messages, first: conversation.first, last: conversation.last });
  }

  /** Asks for a message that another one answers. `quoted` follows, unless no answer comes. */
  quote(seq: number): void {
    this.#quoting.run(async () => {
      const answer = await this.#ask("history", { around: seq, limit: 1 });
      if (!answer.ok) return;
      const message = parsePage(answer.response)?.messages.find((each) => each.seq === seq);
      this.#tell({ type: "quoted", seq, message });
    });
  }

  #watchMessages(): void {
    this.#wire.hear("msg:new", parseMessage, (message) => {
      this.#typists.heard(message.sender, false);
      this.#feed.arrived([message]);
    });
    this.#wire.hear("head", (payload) => place(fields(payload)["seq"]), (seq) => { this.#feed.head(seq); });
    for (const event of ["msg:edit", "msg:delete"]) {
      this.#wire.hear(event, parseMessage, (message) => {
        this.#feed.changed({ type: "edited", message }, message.seq, message.revision);
      });
    }
    this.#wire.hear("msg:changed", parseMessage, (message) => {
      this.#feed.changed({ type: "changed", message }, message.seq, message.revision);
    });
    this.#wire.hear("conversation:changed", parseConversation, (conversation) => {
      this.#feed.standsAt(conversation.revision, isRoom(conversation) ? ROOM_SPREAD_MS : 0);
    });
    this.#wire.hear("react", parseReacted, ({ person, on, ...reacted }) => {
      const event = { type: "reacted", ...reacted, mine: this.#news.isMe(person) ? on : undefined } as const;
      this.#feed.changed(event, reacted.seq, reacted.revision);
    });
  }

  #watchTyping(): void {
    this.#wire.hear("typing", parseTyping, ({ person, on }) => {
      if (this.#news.isMe(person)) return;
      this.#news.met(person);
      this.#typists.heard(person, on);
    });
  }

  /** Tells the owner, and who wrote what is told. */
  #tell(event: RoomEvent): void {
    if (event.type === "page" || event.type === "brought") {
      for (const { sender } of event.messages) this.#news.met(sender);
    } else if ((event.type === "said" || event.type === "changed" || event.type === "quoted") && event.message) {
      this.#news.met(event.message.sender);
    }
    this.#news.emit(event);
  }

  #ask(event: string, payload: object): Promise<Answer> {
    return this.#wire.ask(event, payload);
  }

  /** The answer has the message as it is now, also where nothing changed and so nothing is told. */
  async #change(event: string, payload: object): Promise<Answer> {
    const answer = await this.#ask(event, payload);
    const message = answer.ok ? parseChanged(answer.response) : undefined;
    if (message !== undefined) this.#tell({ type: "changed", message });
    return answer;
  }
}

function whereabouts(where: Where, seq: number): object {
  switch (where) {
    case "earlier":
      return { before: seq };
    case "later":
      return { after: seq };
    case "around":
      return { around: seq };
    case "newest":
      return {};
  }
}
