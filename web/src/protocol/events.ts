import type { Message, Presence, Tally } from "./wire";

export type TransportName = "websocket" | "longpoll";

/** Everything that a `RoomChannel` tells its owner, in the order in which it happened. */
export type RoomEvent =
  /** The socket is open; the join is on its way. */
  | { readonly type: "opened"; readonly transport: TransportName }
  /** The socket is gone, or an attempt to open it failed; the next attempt is scheduled. */
  | { readonly type: "closed" }
  /** The server accepted the join, for the first time or again. What was missed follows. */
  | { readonly type: "joined"; readonly me: string; readonly title: string }
  /** The server refused the join; it is tried again later. */
  | { readonly type: "refused"; readonly reason: string }
  /** The channel broke on an open socket, or its join got no answer; it is joined again later. */
  | { readonly type: "interrupted" }
  /** The server ended the channel on purpose; nothing is tried any more. */
  | { readonly type: "removed" }
  /** The newest messages, in place of all that were known; `more` says whether there are older ones. */
  | { readonly type: "page"; readonly messages: readonly Message[]; readonly more: boolean }
  /** Messages before the oldest that is known. */
  | { readonly type: "earlier"; readonly messages: readonly Message[]; readonly more: boolean }
  /** One more message: its place is the next one, always. */
  | { readonly type: "said"; readonly message: Message }
  /** A message was edited or deleted; of its reactions it says nothing. */
  | { readonly type: "changed"; readonly message: Message }
  | { readonly type: "reacted"; readonly seq: number; readonly reactions: readonly Tally[] }
  /** How a person is called. */
  | { readonly type: "named"; readonly person: string; readonly name: string; readonly guest: boolean }
  /** Who is here, after a join. */
  | { readonly type: "people_listed"; readonly people: readonly Presence[] }
  /** Somebody came, went or is busy now. */
  | { readonly type: "person_changed"; readonly presence: Presence }
  /** The crowd is too big for a list. */
  | { readonly type: "people_counted"; readonly count: number };

/** What became of a message that was sent. */
export type Delivery =
  | { readonly outcome: "delivered" }
  | { readonly outcome: "refused"; readonly reason: string }
  /** No answer came: it may have arrived or not. */
  | { readonly outcome: "unconfirmed" };
