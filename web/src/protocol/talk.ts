import type { Channel } from "phoenix";
import { ask, type Answer } from "./ask";
import type { RoomEvent, Where } from "./events";
import { noAnswer } from "./fault";
import { Feed } from "./feed";
import { InTurn } from "./in-turn";
import { parsePage, type Joined } from "./joined";
import { listen } from "./listen";
import { parseChanged, parseMessage, parseReacted, type Message } from "./message";
import { fields, place } from "./payload";
import { parseTyping } from "./person";
import { Typists } from "./typists";

/** Messages at once, of what is older or newer than what is known. */
const BROUGHT_MAX = 50;

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

/** What is said in a room, and what becomes of it: what is heard goes to the owner, what is done is asked of the server. */
export class Talk {
  readonly #channel: Channel;
  readonly #news: TalkNews;
  readonly #feed: Feed;
  readonly #typists: Typists;
  readonly #quoting = new InTurn(1);

  constructor(channel: Channel, news: TalkNews) {
    this.#channel = channel;
    this.#news = news;
    this.#feed = new Feed((event, payload) => this.#ask(event, payload), (event) => { this.#tell(event); });
    this.#typists = new Typists((person, on) => { news.emit({ type: "typing", person, on }); });
    this.#watchMessages();
    this.#watchTyping();
  }

  /** What a join says, so that it brings what was missed. */
  get position(): object {
    return this.#feed.position;
  }

  /** The room was joined, for the first time or again. */
  stand(joined: Joined): void {
    this.#typists.forget();
    this.#feed.stand(joined);
  }

  /** Nothing is heard any more, for now. */
  fallSilent(): void {
    this.#typists.forget();
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
    this.#channel.push("typing", { on });
  }

  /** Everything up to that place was seen. */
  read(seq: number): void {
    this.#channel.push("read", { seq });
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
    listen(this.#channel, "msg:new", parseMessage, (message) => {
      this.#typists.heard(message.sender, false);
      this.#feed.arrived([message]);
    });
    listen(this.#channel, "head", (payload) => place(fields(payload)["seq"]), (seq) => { this.#feed.head(seq); });
    for (const event of ["msg:edit", "msg:delete"]) {
      listen(this.#channel, event, parseMessage, (message) => {
        this.#tell({ type: "edited", message });
        this.#feed.changedTo(message.revision);
      });
    }
    listen(this.#channel, "msg:changed", parseMessage, (message) => {
      this.#tell({ type: "changed", message });
      this.#feed.changedTo(message.revision);
    });
    listen(this.#channel, "react", parseReacted, ({ person, on, ...reacted }) => {
      this.#tell({ type: "reacted", ...reacted, mine: this.#news.isMe(person) ? on : undefined });
      this.#feed.changedTo(reacted.revision);
    });
  }

  #watchTyping(): void {
    listen(this.#channel, "typing", parseTyping, ({ person, on }) => {
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
    return ask(this.#channel, event, payload);
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
