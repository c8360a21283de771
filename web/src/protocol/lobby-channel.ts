import { LongPoll, Presence, Socket, type Channel } from "phoenix";
import type { Delivery, LobbyEvent, TransportName } from "./events";
import { parseCount, parseMessage, parsePerson, parseReason, type Person } from "./wire";

const TOPIC = "rooms:lobby";

/** How long a WebSocket may take to open, and then to answer, before long-polling takes over. */
const LONG_POLL_FALLBACK_MS = 2500;

export type LobbyOptions = {
  /** The mount, without its transport: `/socket`, or a full `ws://host/socket`. */
  readonly endpoint: string;
  /** The presence key of this tab. */
  readonly key: string;
  readonly name: string;
};

/**
 * One person's place in `rooms:lobby`: a socket, the channel and its presence, told to the owner as `LobbyEvent`s.
 * Reconnecting and rejoining are the client library's. It knows no DOM and keeps no history.
 */
export class LobbyChannel {
  readonly #socket: Socket;
  readonly #channel: Channel;
  readonly #emit: (event: LobbyEvent) => void;
  #left = false;

  constructor(options: LobbyOptions, emit: (event: LobbyEvent) => void) {
    this.#emit = (event) => {
      if (!this.#left) emit(event);
    };
    this.#socket = new Socket(options.endpoint, { longPollFallbackMs: LONG_POLL_FALLBACK_MS });
    this.#channel = this.#socket.channel(TOPIC, { presence: true, key: options.key, name: options.name });
    this.#watchSocket();
    this.#watchChannel();
    this.#watchPresence();
    this.#join();
    this.#socket.connect();
  }

  send(body: string): Promise<Delivery> {
    return new Promise((resolve) => {
      this.#channel
        .push("new_msg", { body })
        .receive("ok", () => { resolve({ outcome: "delivered" }); })
        .receive("error", (response) => { resolve({ outcome: "refused", reason: parseReason(response) }); })
        .receive("timeout", () => { resolve({ outcome: "unconfirmed" }); });
    });
  }

  /** Connects now instead of at the end of the back-off. */
  reconnect(): void {
    this.#socket.disconnect();
    this.#socket.connect();
  }

  /** Gives the place up. No event follows. */
  leave(): void {
    this.#left = true;
    this.#channel.leave();
    this.#socket.disconnect();
  }

  #watchSocket(): void {
    this.#socket.onOpen(() => { this.#emit({ type: "opened", transport: this.#transport() }); });
    this.#socket.onClose(() => { this.#emit({ type: "closed" }); });
  }

  #watchChannel(): void {
    this.#channel.onError(() => { this.#emit({ type: "interrupted" }); });
    this.#channel.onClose(() => { this.#emit({ type: "removed" }); });
    this.#channel.on("new_msg", (payload) => {
      const message = parseMessage(payload);
      if (message) this.#emit({ type: "message", ...message });
    });
  }

  /** `Presence` registers its own handlers first, so its list is up to date when ours run. */
  #watchPresence(): void {
    const presence = new Presence(this.#channel);
    const people = (): Person[] => presence.list(parsePerson).filter((person) => person !== undefined);
    this.#channel.on("presence_state", () => { this.#emit({ type: "people_listed", people: people() }); });
    this.#channel.on("presence_diff", () => {
      if (!presence.inPendingSyncState()) this.#emit({ type: "people_changed", people: people() });
    });
    this.#channel.on("presence_count", (payload) => {
      const count = parseCount(payload);
      if (count !== undefined) this.#emit({ type: "people_counted", count });
    });
  }

  /** The answers' handlers hold for every later rejoin too. */
  #join(): void {
    this.#channel
      .join()
      .receive("ok", () => {
        this.#keepWebSocket();
        this.#emit({ type: "joined" });
      })
      .receive("error", (response) => { this.#emit({ type: "refused", reason: parseReason(response) }); })
      .receive("timeout", () => { this.#emit({ type: "interrupted" }); });
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
