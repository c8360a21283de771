import type { BlockChange } from "./block-news";
import type { Community } from "./community";
import type { Conversation } from "./conversation";
import type { Fault } from "./fault";
import type { Member } from "./joined";
import type { Message, Tally } from "./message";
import type { Presence, Profile, Role } from "./person";
import type { TabChange } from "./tab";

export type TransportName = "websocket" | "longpoll";

/** Which older or newer messages were asked for: next to those that are known, around a place, or the newest. */
export type Where = "earlier" | "later" | "around" | "newest";

/** Why the server ended a connection, as far as it said: `docs/protocol.md` has the codes. */
export type Ending = "restart" | "slow" | "signed_out";

/** Everything that a `RoomChannel` tells its owner, in the order in which it happened. */
export type RoomEvent =
  /** The socket is open; the join is on its way. */
  | { readonly type: "opened"; readonly transport: TransportName }
  /** The socket is gone, or an attempt to open it failed; the next attempt is scheduled. */
  | { readonly type: "closed"; readonly why: Ending | undefined }
  /** The server accepted the join, for the first time or again. What was missed follows. */
  | { readonly type: "joined"; readonly me: Profile; readonly member: Member | undefined }
  /** The server refused the join; it is tried again later. */
  | { readonly type: "refused"; readonly fault: Fault }
  /** The channel broke on an open socket, or its join got no answer; it is joined again later. */
  | { readonly type: "interrupted" }
  /** The server ended the channel on purpose; nothing is tried any more. */
  | { readonly type: "removed" }
  /** What the room is called and about. */
  | { readonly type: "described"; readonly conversation: Conversation }
  /** What the community of the room is called and how it looks. */
  | { readonly type: "community_described"; readonly community: Community }
  /**
   * The newest messages, in place of all that were known. The room keeps the places from `first` to `last`. `lost` is why
   * what came since the last time could not be brought; `undefined` where there was no last time.
   */
  | {
      readonly type: "page";
      readonly messages: readonly Message[];
      readonly first: number;
      readonly last: number;
      readonly lost: string | undefined;
    }
  /** Messages that were asked for. */
  | {
      readonly type: "brought";
      readonly where: Where;
      readonly messages: readonly Message[];
      readonly first: number;
      readonly last: number;
    }
  | { readonly type: "not_brought"; readonly where: Where; readonly fault: Fault }
  /** A single message, because another one answers it; `undefined` if it is not kept any more. */
  | { readonly type: "quoted"; readonly seq: number; readonly message: Message | undefined }
  /** One more message: its place is the next one, always. */
  | { readonly type: "said"; readonly message: Message }
  /** A message was edited or deleted; of its reactions it says nothing. */
  | { readonly type: "edited"; readonly message: Message }
  /** A message as it is now, with its reactions. */
  | { readonly type: "changed"; readonly message: Message }
  /** `mine` is whether one's own reaction with `emoji` is there now; `undefined` if somebody else's changed. */
  | {
      readonly type: "reacted";
      readonly seq: number;
      readonly emoji: string;
      readonly mine: boolean | undefined;
      readonly reactions: readonly Tally[];
      readonly revision: number;
    }
  /** Somebody else types, or does no more. */
  | { readonly type: "typing"; readonly person: string; readonly on: boolean }
  /** How a person is called. */
  | { readonly type: "named"; readonly profile: Profile }
  /** One has another role here now. */
  | { readonly type: "role_given"; readonly role: Role }
  /** One may not write until then (for good, if that is not said), or may again. */
  | { readonly type: "muted"; readonly on: boolean; readonly until: number | undefined }
  /** Everything up to there was read, maybe on another device. */
  | { readonly type: "read"; readonly seq: number }
  /** Who is here, after a join. */
  | { readonly type: "people_listed"; readonly people: readonly Presence[] }
  /** Somebody came, went or is busy now. */
  | { readonly type: "person_changed"; readonly presence: Presence }
  /** The crowd is too big for a list. */
  | { readonly type: "people_counted"; readonly count: number }
  /** Who of those with whom one talks in private is here: all of them, or what changed. */
  | { readonly type: "friends_seen"; readonly people: readonly Presence[]; readonly all: boolean }
  /** The server refused the join of one's own topic, without which there are no conversations; it is tried again later. */
  | { readonly type: "own_refused"; readonly fault: Fault }
  /** Something is new in the conversations tab. */
  | { readonly type: "tabs_changed"; readonly change: TabChange }
  /** One blocks others than before. */
  | { readonly type: "blocks_changed"; readonly change: BlockChange };
