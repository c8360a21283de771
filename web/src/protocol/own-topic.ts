import type { Channel, Socket } from "phoenix";
import { ask, askWhileConnected, type Answer } from "./ask";
import { BlockNews, type BlockChange } from "./block-news";
import { parseConversation, type Conversation } from "./conversation";
import { NO_ANSWER, parseFault, type Fault } from "./fault";
import { InTurn } from "./in-turn";
import { listen } from "./listen";
import { all, fields, text } from "./payload";
import { parsePresence, parseProfile, type Presence, type Profile } from "./person";
import { parseMute, type Mute } from "./sanction";
import { parseFound, searchFor, type Found, type Question } from "./search";
import { TabNews } from "./tab-news";
import type { TabChange } from "./tab";
import { wireOf, type Wire } from "./wire";

/** Names asked at once; the server lets 24 questions of a topic wait. */
const ASKED_MAX = 8;
/** People whose names were asked for; the one longest ago is forgotten, and asked again when met again. */
const NAMED_MAX = 5000;

/** The answer to a join of it. */
export type OwnStandpoint = {
  readonly epoch: string;
  /** Who of those with whom one talks in private is here. */
  readonly friends: readonly Presence[];
  /** How others see oneself; `undefined` for who is invisible. */
  readonly me: Presence | undefined;
};

export type OwnNews = {
  readonly named: (profile: Profile) => void;
  readonly muted: (mute: Mute) => void;
  /** One's own cursor, moved by a device. */
  readonly read: (conversation: string, seq: number) => void;
  /** It is joined, for the first time or again. */
  readonly stood: (own: OwnStandpoint) => void;
  /** The server refused the join; it is tried again later. */
  readonly refused: (fault: Fault) => void;
  /** Of a friend, or of somebody in a room. */
  readonly seen: (presence: Presence) => void;
  readonly tabs: (change: TabChange) => void;
  readonly blocks: (change: BlockChange) => void;
};

/** A person's own topic, by which they are here, ask how others are called, and are told what concerns them. */
export class OwnTopic {
  readonly person: string;
  readonly tabs: TabNews;
  readonly blocks: BlockNews;
  readonly #channel: Channel;
  readonly #news: OwnNews;
  readonly #asking = new InTurn(ASKED_MAX);
  readonly #named = new Set<string>();
  /** Those whose names no answer told, because the connection was lost or the server was busy. */
  readonly #untold = new Set<string>();

  constructor(socket: Socket, community: string, person: string, news: OwnNews) {
    this.person = person;
    this.#news = news;
    this.#named.add(person);
    this.#channel = socket.channel(`person:${community}/${person}`, {});
    this.tabs = new TabNews(this.#channel, person, (change) => {
      if (change.kind === "read") news.read(change.conversation, change.read);
      news.tabs(change);
    });
    this.blocks = new BlockNews(this.#channel, news.blocks);
    listen(this.#channel, "sanction", parseMute, news.muted);
    listen(this.#channel, "presence", parsePresence, news.seen);
    listen(this.#channel, "profile", parseProfile, news.named);
    this.#channel
      .join()
      .receive("ok", (response) => { this.#joined(response); })
      .receive("error", (response) => { news.refused(parseFault(response)); });
  }

  /** The way to a conversation that has no topic of its own. */
  wireTo(conversation: string): Wire {
    return wireOf(this.#channel, conversation);
  }

  /** The conversation of oneself and that person; it is made if there is none. */
  async direct(person: string): Promise<Conversation | Fault> {
    const answer = await this.#ask("direct", { with: person });
    if (!answer.ok) return answer.fault;
    return parseConversation(fields(answer.response)["conversation"]) ?? parseFault(undefined);
  }

  /** One page of the messages that have all words of a search, the newest first. */
  async search(question: Question): Promise<Found | Fault> {
    const answer = await this.#ask("search", searchFor(question));
    return answer.ok ? parseFound(answer.response) : answer.fault;
  }

  /**
   * Questions wait until the topic is joined; those that had no answer are asked again when it is joined again. Who has gone
   * for good has no name any more.
   */
  askName(person: string): void {
    if (this.#named.has(person) || person.startsWith("~")) return;
    const [oldest] = this.#named;
    if (this.#named.size >= NAMED_MAX && oldest !== undefined) this.#named.delete(oldest);
    this.#named.add(person);
    this.#asking.run(async () => {
      const answer = await askWhileConnected(this.#channel, "profile", { person });
      const profile = answer.ok ? parseProfile(answer.response) : undefined;
      if (profile !== undefined) this.#news.named(profile);
      else if (!answer.ok && answer.fault.code !== "not_found") this.#named.delete(person);
      if (!answer.ok && answer.fault.code === NO_ANSWER) this.#untold.add(person);
    });
  }

  /** Exchanges a guest's token for a newer one; `undefined` where there is none to be had. */
  async refresh(token: string): Promise<string | undefined> {
    const answer = await this.#ask("token:refresh", { token });
    return answer.ok ? text(fields(answer.response)["token"]) : undefined;
  }

  leave(): void {
    this.#channel.leave();
  }

  /** The answer to a join: `{"epoch", "conversations", "next", "presence", …}`. */
  #joined(response: unknown): void {
    const joined = fields(response);
    const untold = [...this.#untold];
    this.#untold.clear();
    for (const person of untold) this.askName(person);
    this.tabs.list(joined);
    void this.blocks.list();
    this.#news.stood({
      epoch: text(joined["epoch"]) ?? "",
      friends: all(joined["presence"], parsePresence),
      me: parsePresence({ person: this.person, status: joined["status"] }),
    });
  }

  #ask(event: string, payload: object): Promise<Answer> {
    return ask(this.#channel, event, payload);
  }
}
