import { LongPoll, Socket, type Channel } from "phoenix";
import { parseCommunity } from "./community";
import { parseConversation } from "./conversation";
import { credentials, type Identity } from "./credentials";
import { endingOf } from "./ending";
import type { RoomEvent, TransportName } from "./events";
import { parseFault } from "./fault";
import { parseJoined, type Joined } from "./joined";
import { listen } from "./listen";
import { OwnPlace } from "./own-place";
import { fields, text } from "./payload";
import { parsePresence, parseProfile, parseRoleChange } from "./person";
import { Talk } from "./talk";
import { wireOf } from "./wire";

/** How long a WebSocket may take to open, and then to answer, before long-polling takes over. */
const LONG_POLL_FALLBACK_MS = 2500;
/** A page that stays open gets a newer token long before the old one ends: a guest's lasts a day. */
const REFRESH_MS = 6 * 60 * 60 * 1000;

export type RoomOptions = {
  /** The mount, without its transport: `/socket`, or a full `ws://host/socket`. */
  readonly endpoint: string;
  readonly community: string;
  readonly room: string;
  readonly identity: Identity;
};

/**
 * One person's place in a room: a socket, the room's channel, and the person's own. It tells the owner `RoomEvent`s;
 * messages come in the order of their places, without holes. Reconnecting and rejoining are the client library's. It knows
 * no DOM and keeps no history.
 */
export class RoomChannel {
  readonly talk: Talk;
  readonly #options: RoomOptions;
  readonly #socket: Socket;
  readonly #channel: Channel;
  readonly #emit: (event: RoomEvent) => void;
  readonly #refreshing: ReturnType<typeof setInterval>;
  /** What one has beside the room. */
  readonly own: OwnPlace;
  #conversation: string | undefined;
  #left = false;

  constructor(options: RoomOptions, emit: (event: RoomEvent) => void) {
    this.#options = options;
    this.#emit = (event) => {
      if (!this.#left) emit(event);
    };
    const { endpoint, community, room, identity } = options;
    this.#socket = new Socket(endpoint, {
      longPollFallbackMs: LONG_POLL_FALLBACK_MS,
      // Asked at each connect: what is known by then counts.
      params: () => ({ community, ...credentials(identity) }),
    });
    this.own = new OwnPlace({ socket: this.#socket, community, emit: this.#emit, room: () => this.#conversation });
    this.#channel = this.#socket.channel(`room:${community}/${room}`, () => this.talk.position);
    this.talk = new Talk(wireOf(this.#channel), {
      emit: (event) => {
        if (event.type === "said") this.own.meet(event.message.sender);
        this.#emit(event);
      },
      met: (person) => { this.own.askName(person); },
      isMe: (person) => person === this.own.person,
    });
    this.#watchSocket();
    this.#watchRoom();
    this.#join();
    this.#socket.connect();
    this.#refreshing = setInterval(() => void this.#refresh(), REFRESH_MS);
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
    this.talk.leave();
    this.#channel.leave();
    this.own.leave();
    this.#socket.disconnect();
  }

  #watchSocket(): void {
    this.#socket.onOpen(() => { this.own.tellAll({ type: "opened", transport: this.#transport() }); });
    this.#socket.onClose((event) => {
      this.talk.fallSilent();
      this.own.tellAll({ type: "closed", why: endingOf(event) });
    });
    this.#channel.onError(() => {
      this.talk.fallSilent();
      this.#emit({ type: "interrupted" });
    });
    this.#channel.onClose(() => { this.#emit({ type: "removed" }); });
  }

  #watchRoom(): void {
    listen(this.#channel, "presence", parsePresence, (presence) => {
      this.own.meet(presence.person);
      this.own.seen(presence);
    });
    const person = (payload: unknown): string | undefined => text(fields(payload)["person"]);
    listen(this.#channel, "member:in", person, (each) => { this.own.meet(each); });
    listen(this.#channel, "member:out", person, (each) => { this.own.dismiss(each); });
    listen(this.#channel, "profile", parseProfile, (profile) => { this.own.tellAll({ type: "named", profile }); });
    listen(this.#channel, "conversation:changed", parseConversation, (conversation) => {
      this.#emit({ type: "described", conversation });
    });
    this.#channel.on("community:changed", (payload) => { this.#described(payload); });
    listen(this.#channel, "member:role", parseRoleChange, ({ person, role }) => {
      if (person === this.own.person) this.#emit({ type: "role_given", role });
    });
  }

  /** The answers' handlers hold for every later rejoin too. */
  #join(): void {
    this.#channel
      .join()
      .receive("ok", (response) => {
        const joined = parseJoined(response);
        if (joined) this.#joined(joined);
        this.#described(response);
      })
      .receive("error", (response) => { this.#refused(response); })
      .receive("timeout", () => { this.#emit({ type: "interrupted" }); });
  }

  #joined(joined: Joined): void {
    const { me, member, conversation, people, token } = joined;
    const { identity } = this.#options;
    this.#keepWebSocket();
    if (identity.kind === "guest" && token !== undefined) identity.tokens.save(token);
    this.#conversation = conversation.id;
    this.own.be(me);
    this.#emit({ type: "joined", me, member });
    this.own.tellAll({ type: "named", profile: me });
    this.#emit({ type: "described", conversation });
    this.talk.stand(joined);
    if (people === undefined) {
      this.#emit({ type: "people_counted", count: joined.count });
    } else {
      this.own.list(people, member !== undefined);
    }
  }

  /** What the community is called and how it looks: an answer to a join says it, and its own event. */
  #described(payload: unknown): void {
    const community = parseCommunity(fields(payload)["community"]);
    if (community) this.#emit({ type: "community_described", community });
  }

  /** A guest's token that is good no more makes a new guest of whoever had it; who the site vouches for is told. */
  #refused(response: unknown): void {
    const fault = parseFault(response);
    const { identity } = this.#options;
    const over = fault.code.startsWith("token_") && fault.code !== "token_unverifiable";
    if (over && identity.kind === "guest" && identity.tokens.load() !== undefined) {
      identity.tokens.save(undefined);
      this.reconnect();
      return;
    }
    this.#emit({ type: "refused", fault });
  }

  async #refresh(): Promise<void> {
    const { identity } = this.#options;
    const token = identity.kind === "guest" ? identity.tokens.load() : undefined;
    const newer = token === undefined ? undefined : await this.own.refresh(token);
    if (identity.kind === "guest" && newer !== undefined) identity.tokens.save(newer);
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
