import type { Person } from "./wire";

export type TransportName = "websocket" | "longpoll";

/** Everything that a `LobbyChannel` tells its owner, in the order in which it happened. */
export type LobbyEvent =
  /** The socket is open; the join is on its way. */
  | { readonly type: "opened"; readonly transport: TransportName }
  /** The socket is gone, or an attempt to open it failed; the next attempt is scheduled. */
  | { readonly type: "closed" }
  /** The server accepted the join, for the first time or again. */
  | { readonly type: "joined" }
  /** The server refused the join; it is tried again later. */
  | { readonly type: "refused"; readonly reason: string }
  /** The channel broke on an open socket, or its join got no answer; it is joined again later. */
  | { readonly type: "interrupted" }
  /** The server ended the channel on purpose; nothing is tried any more. */
  | { readonly type: "removed" }
  | { readonly type: "message"; readonly name: string; readonly body: string }
  /** A full list, after a join or when a crowd shrank enough to be listed again. */
  | { readonly type: "people_listed"; readonly people: readonly Person[] }
  /** Somebody came, went or changed; the list after that. */
  | { readonly type: "people_changed"; readonly people: readonly Person[] }
  /** The crowd is too big for a list. */
  | { readonly type: "people_counted"; readonly count: number };

/** What became of a message that was sent. */
export type Delivery =
  | { readonly outcome: "delivered" }
  | { readonly outcome: "refused"; readonly reason: string }
  /** No answer came: it may have arrived or not. */
  | { readonly outcome: "unconfirmed" };
