import { LongPoll, Socket, type Channel } from "phoenix";
import type { Delivery, RoomEvent, TransportName } from "./events";
import { Order } from "./order";
import {
  parseFault,
  parseHead,
  parseJoined,
  parseMessage,
  parsePage,
  parsePresence,
  parseProfile,
  parseReactions,
  parseToken,
  type Joined,
  type Message,
} from "./wire";

/** How long a WebSocket may take to open, and then to answer, before long-polling takes over. */
const LONG_POLL_FALLBACK_MS = 2500;
/** A page that stays open gets a newer token long before the old one ends: a guest's lasts a day. */
const REFRESH_MS = 6 * 60 * 60 * 1000;
/** Messages at once, of what was missed and of what is older. */
const MISSED_MAX = 200;
const EARLIER_MAX = 50;

/** What keeps a guest the same one. */
export type Tokens = {
  load(): string | undefined;
  /** `undefined` forgets it. */
  save(token: string | undefined): void;
};

export type RoomOptions = {
  /** The mount, without its transport: `/socket`, or a full `ws://host/socket`. */
  readonly endpoint: string;
  readonly community: string;
  readonly room: string;
  /** How a new guest wants to be called. */
  readonly name: string;
  readonly tokens: Tokens;
};

/**
 * One person's place in a room: a socket, the room's channel, and the person's own, by which names are asked. It tells
 * the owner `RoomEvent`s; messages come in the order of their places, without holes. Reconnecting and rejoining are the
 * client library's. It knows no DOM and keeps no history.
 */
export class RoomChannel {
  readonly #options: RoomOptions;
  readonly #socket: Socket;
  readonly #channel: Channel;
  readonly #emit: (event: RoomEvent) => void;
  readonly #refreshing: ReturnType<typeof setInterval>;
  readonly #order = new Order();
  /** Whose name is known or was asked for. */
  readonly #named = new Set<string>();
  /** The own topic, once it is known who one is. */
  #own: { readonly person: string; readonly channel: Channel } | undefined;
  #stood: { readonly epoch: string; readonly revision: number } | undefined;
  #filling = false;
  #left = false;

  constructor(options: RoomOptions, emit: (event: RoomEvent) => void) {
    this.#options = options;
    this.#emit = (event) => {
      if (!this.#left) emit(event);
    };
    const { endpoint, community, room, tokens, name } = options;
    this.#socket = new Socket(endpoint, {
      longPollFallbackMs: LONG_POLL_FALLBACK_MS,
      // Asked at each connect: what is known by then counts.
      params: () => ({ community, ...(tokens.load() === undefined ? { name } : { token: tokens.load() }) }),
    });
    this.#channel = this.#socket.channel(`room:${community}/${room}`, () => this.#whereIStood());
    this.#watchSocket();
    this.#watchChannel();
    this.#join();
    this.#socket.connect();
    this.#refreshing = setInterval(() => { this.#refresh(); }, REFRESH_MS);
  }

  /** `id` is what the page calls the message: sent again under the same one, it is the same message. */
  send(text: string, id: string): Promise<Delivery> {
    return new Promise((resolve) => {
      this.#channel
        .push("msg:new", { text, client_id: id })
        .receive("ok", () => { resolve({ outcome: "delivered" }); })
        .receive("error", (response) => { resolve({ outcome: "refused", reason: parseFault(response).message }); })
        .receive("timeout", () => { resolve({ outcome: "unconfirmed" }); });
    });
  }

  /** Asks for what was said before that place. */
  earlier(seq: number): void {
    this.#channel.push("history", { before: seq, limit: EARLIER_MAX }).receive("ok", (response) => {
      const page = parsePage(response);
      this.#askNames(page.messages);
      this.#emit({ type: "earlier", ...page });
    });
  }

  /** Everything up to that place was seen. */
  read(seq: number): void {
    this.#channel.push("read", { seq });
  }

  /** Connects now instead of at the end of the back-off. */
  reconnect(): void {
    this.#socket.disconnect();
    this.#socket.connect();
  }

  /** Gives the place up. No event follows. */
  leave(): void {
    this.#left = true;
    clearInterval(this.#refreshing);
    this.#channel.leave();
    this.#own?.channel.leave();
    this.#socket.disconnect();
  }

  #watchSocket(): void {
    this.#socket.onOpen(() => { this.#emit({ type: "opened", transport: this.#transport() }); });
    this.#socket.onClose(() => { this.#emit({ type: "closed" }); });
  }

  #watchChannel(): void {
    this.#channel.onError(() => { this.#emit({ type: "interrupted" }); });
    this.#channel.onClose(() => { this.#emit({ type: "removed" }); });
    this.#on("msg:new", parseMessage, (message) => { this.#arrived([message]); });
    this.#on("head", parseHead, (seq) => { if (seq > this.#order.last) this.#fill(); });
    for (const event of ["msg:edit", "msg:delete"]) {
      this.#on(event, parseMessage, (message) => { this.#emit({ type: "changed", message }); });
    }
    this.#on("msg:changed", parseMessage, (message) => { this.#changed(message); });
    this.#on("react", parseReactions, (reacted) => { this.#emit({ type: "reacted", ...reacted }); });
    this.#on("presence", parsePresence, (presence) => {
      this.#askName(presence.person);
      this.#emit({ type: "person_changed", presence });
    });
    this.#on("profile", parseProfile, (profile) => { this.#emit({ type: "named", ...profile }); });
  }

  #on<T>(event: string, parse: (payload: unknown) => T | undefined, act: (parsed: T) => void): void {
    this.#channel.on(event, (payload) => {
      const parsed = parse(payload);
      if (parsed !== undefined) act(parsed);
    });
  }

  /** The answers' handlers hold for every later rejoin too. */
  #join(): void {
    this.#channel
      .join()
      .receive("ok", (response) => {
        const joined = parseJoined(response);
        if (joined) this.#joined(joined);
      })
      .receive("error", (response) => { this.#refused(response); })
      .receive("timeout", () => { this.#emit({ type: "interrupted" }); });
  }

  /** What a join says, so that it brings what was missed. */
  #whereIStood(): object {
    return this.#stood === undefined ? {} : { recover: { ...this.#stood, seq: this.#order.last } };
  }

  #joined(joined: Joined): void {
    this.#keepWebSocket();
    if (joined.token !== undefined) this.#options.tokens.save(joined.token);
    this.#stood = { epoch: joined.epoch, revision: joined.revision };
    this.#filling = false;
    this.#emit({ type: "joined", me: joined.me.person, title: joined.title });
    this.#named.add(joined.me.person);
    this.#emit({ type: "named", ...joined.me });
    this.#beMyself(joined.me.person);
    if (joined.recovered) {
      this.#arrived(joined.messages);
      for (const message of joined.changed) this.#changed(message);
    } else {
      this.#order.startAfter(joined.messages.at(-1)?.seq ?? 0);
      this.#askNames(joined.messages);
      this.#emit({ type: "page", messages: joined.messages, more: joined.more });
    }
    if (joined.people === undefined) {
      this.#emit({ type: "people_counted", count: joined.count });
    } else {
      for (const { person } of joined.people) this.#askName(person);
      this.#emit({ type: "people_listed", people: joined.people });
    }
  }

  /** A token that is good no more makes a new guest of whoever had it. */
  #refused(response: unknown): void {
    const { code, message } = parseFault(response);
    if (code.startsWith("token_") && code !== "token_unverifiable" && this.#options.tokens.load() !== undefined) {
      this.#options.tokens.save(undefined);
      this.reconnect();
      return;
    }
    this.#emit({ type: "refused", reason: message });
  }

  /** One's own topic, by which one is here and asks for names. */
  #beMyself(person: string): void {
    if (this.#own?.person === person) return;
    this.#own?.channel.leave();
    const channel = this.#socket.channel(`person:${this.#options.community}/${person}`, {});
    channel.join();
    this.#own = { person, channel };
  }

  #arrived(messages: readonly Message[]): void {
    this.#take(messages);
    if (this.#order.hasHole) this.#fill();
  }

  #take(messages: readonly Message[]): void {
    this.#askNames(messages);
    for (const message of messages.flatMap((each) => this.#order.take(each))) this.#emit({ type: "said", message });
  }

  /** Brings the places after the last one, as long as that brings anything. */
  #fill(): void {
    if (this.#filling) return;
    this.#filling = true;
    const before = this.#order.last;
    this.#channel
      .push("history", { after: before, limit: MISSED_MAX })
      .receive("ok", (response) => {
        const { messages, more } = parsePage(response);
        this.#filling = false;
        this.#take(messages);
        if ((more || this.#order.hasHole) && this.#order.last > before) this.#fill();
      })
      .receive("error", () => { this.#filling = false; })
      .receive("timeout", () => { this.#filling = false; });
  }

  /** A message as it is now, with its reactions. */
  #changed(message: Message): void {
    this.#emit({ type: "changed", message });
    this.#emit({ type: "reacted", seq: message.seq, reactions: message.reactions });
  }

  #askNames(messages: readonly Message[]): void {
    for (const { sender } of messages) this.#askName(sender);
  }

  /** Pushes wait until the own topic is joined. Who has gone for good has no name any more. */
  #askName(person: string): void {
    if (this.#named.has(person) || this.#own === undefined || person.startsWith("~")) return;
    this.#named.add(person);
    this.#own.channel
      .push("profile", { person })
      .receive("ok", (response) => {
        const profile = parseProfile(response);
        if (profile) this.#emit({ type: "named", ...profile });
      })
      .receive("timeout", () => { this.#named.delete(person); });
  }

  #refresh(): void {
    const token = this.#options.tokens.load();
    if (token === undefined) return;
    this.#own?.channel.push("token:refresh", { token }).receive("ok", (response) => {
      const newer = parseToken(response);
      if (newer !== undefined) this.#options.tokens.save(newer);
    });
  }

  /**
   * Once a WebSocket carried a join, WebSockets work here, and a later failure is an outage. With the fallback still
   * on, the first refused attempt of a server's restart would move every page to long-polling until it is reloaded.
   */
  #keepWebSocket(): void {
    if (this.#transport() === "websocket") this.#socket.longPollFallbackMs = undefined;
  }

  #transport(): TransportName {
    return this.#socket.transport === LongPoll ? "longpoll" : "websocket";
  }
}
