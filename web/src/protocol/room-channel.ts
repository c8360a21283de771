import { LongPoll, Socket, type Channel } from "phoenix";
import { Beside } from "./beside";
import { parseConversation, type Conversation } from "./conversation";
import { credentials, type Identity } from "./credentials";
import { endingOf } from "./ending";
import type { RoomEvent, TransportName } from "./events";
import { noAnswer, parseFault, type Fault } from "./fault";
import { parseJoined, type Joined } from "./joined";
import { listen } from "./listen";
import { OwnTopic } from "./own-topic";
import { fields, text } from "./payload";
import { parsePresence, parseProfile, parseRoleChange, type Presence, type Profile } from "./person";
import { Roll } from "./roll";
import { peopleIn, type TabChange, type TabsNext } from "./tab";
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
  /** The own topic, once it is known who one is. */
  #own: OwnTopic | undefined;
  #me: Profile | undefined;
  /** The store's epoch, once the own topic is joined; `undefined` while it is not. */
  #epoch: string | undefined;
  readonly #roll = new Roll();
  /** What is open beside the room. */
  #beside: Beside | undefined;
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
    this.#channel = this.#socket.channel(`room:${community}/${room}`, () => this.talk.position);
    this.talk = new Talk(wireOf(this.#channel), {
      emit: (event) => {
        if (event.type === "said") this.#roll.meet(event.message.sender);
        this.#emit(event);
      },
      met: (person) => this.#own?.askName(person),
      isMe: (person) => person === this.#own?.person,
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

  /** One's conversation with that person, in private; why there is none. */
  async direct(person: string): Promise<Conversation | Fault> {
    return (await this.#own?.direct(person)) ?? noAnswer;
  }

  /** Opens a conversation that has no topic of its own, in place of what was open beside the room before. */
  open(conversation: string, read: number, emit: (event: RoomEvent) => void): Beside | undefined {
    this.#beside?.leave();
    const [own, me] = [this.#own, this.#me];
    if (own === undefined || me === undefined) return undefined;
    const met = (person: string): void => { own.askName(person); };
    const beside = new Beside({ wire: own.wireTo(conversation), me, read, met, emit });
    this.#beside = beside;
    if (this.#epoch !== undefined) void beside.stood(this.#epoch);
    return beside;
  }

  /** Brings more lines of the conversations tab. */
  moreTabs(before: TabsNext): void {
    void this.#own?.tabs.more(before);
  }

  /** Gives the place up. No event follows. */
  leave(): void {
    this.#left = true;
    clearInterval(this.#refreshing);
    this.#beside?.leave();
    this.talk.leave();
    this.#channel.leave();
    this.#own?.leave();
    this.#socket.disconnect();
  }

  #watchSocket(): void {
    this.#socket.onOpen(() => { this.#emitToAll({ type: "opened", transport: this.#transport() }); });
    this.#socket.onClose((event) => {
      this.#epoch = undefined;
      this.talk.fallSilent();
      this.#beside?.talk.fallSilent();
      this.#emitToAll({ type: "closed", why: endingOf(event) });
    });
    this.#channel.onError(() => {
      this.talk.fallSilent();
      this.#emit({ type: "interrupted" });
    });
    this.#channel.onClose(() => { this.#emit({ type: "removed" }); });
  }

  #watchRoom(): void {
    listen(this.#channel, "presence", parsePresence, (presence) => {
      this.#roll.meet(presence.person);
      this.#seen(presence);
    });
    const person = (payload: unknown): string | undefined => text(fields(payload)["person"]);
    listen(this.#channel, "member:in", person, (each) => { this.#roll.meet(each); });
    listen(this.#channel, "member:out", person, (each) => {
      this.#roll.dismiss(each);
      this.#emit({ type: "person_changed", presence: { person: each, status: "offline" } });
    });
    listen(this.#channel, "profile", parseProfile, (profile) => { this.#emitToAll({ type: "named", profile }); });
    listen(this.#channel, "conversation:changed", parseConversation, (conversation) => {
      this.#emit({ type: "described", conversation });
    });
    listen(this.#channel, "member:role", parseRoleChange, ({ person, role }) => {
      if (person === this.#own?.person) this.#emit({ type: "role_given", role });
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

  #joined(joined: Joined): void {
    const { me, member, conversation, people, token } = joined;
    const { identity } = this.#options;
    this.#keepWebSocket();
    if (identity.kind === "guest" && token !== undefined) identity.tokens.save(token);
    this.#conversation = conversation.id;
    this.#me = me;
    // Oneself is told of one's own presence, too: that alone is no place in the room.
    this.#roll.befriend([me.person]);
    this.#beMyself(me.person);
    this.#emit({ type: "joined", me, member });
    this.#emitToAll({ type: "named", profile: me });
    this.#emit({ type: "described", conversation });
    this.talk.stand(joined);
    if (people === undefined) {
      this.#emit({ type: "people_counted", count: joined.count });
    } else {
      for (const { person } of people) {
        this.#roll.meet(person);
        this.#own?.askName(person);
      }
      this.#emit({ type: "people_listed", people });
    }
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

  /** One's own topic, by which one is here and asks for names. */
  #beMyself(person: string): void {
    if (this.#own?.person === person) return;
    this.#own?.leave();
    this.#epoch = undefined;
    // What was open was the other person's.
    this.#beside?.hear({ type: "removed" });
    this.#beside?.leave();
    this.#own = new OwnTopic(this.#socket, this.#options.community, person, {
      named: (profile) => { this.#emitToAll({ type: "named", profile }); },
      muted: ({ conversation, on, until }) => {
        if (conversation === undefined || conversation === this.#conversation) this.#emit({ type: "muted", on, until });
      },
      read: (conversation, seq) => {
        if (conversation === this.#conversation) this.#emit({ type: "read", seq });
      },
      stood: (epoch, friends) => {
        this.#epoch = epoch;
        this.#roll.befriend(friends.map((friend) => friend.person));
        this.#emit({ type: "friends_seen", people: friends, all: true });
        void this.#beside?.stood(epoch);
      },
      seen: (presence) => {
        this.#emit({ type: "friends_seen", people: [presence], all: false });
        if (this.#roll.has(presence.person)) this.#seen(presence);
      },
      tabs: (change) => { this.#tabs(change); },
    });
  }

  #seen(presence: Presence): void {
    if (presence.status !== "offline") this.#own?.askName(presence.person);
    this.#emit({ type: "person_changed", presence });
  }

  #tabs(change: TabChange): void {
    const { friends, authors } = peopleIn(change);
    this.#roll.befriend(friends);
    for (const person of [...friends, ...authors]) this.#own?.askName(person);
    this.#emit({ type: "tabs_changed", change });
  }

  #emitToAll(event: RoomEvent): void {
    this.#emit(event);
    this.#beside?.hear(event);
  }

  async #refresh(): Promise<void> {
    const { identity } = this.#options;
    const token = identity.kind === "guest" ? identity.tokens.load() : undefined;
    const newer = token === undefined ? undefined : await this.#own?.refresh(token);
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
