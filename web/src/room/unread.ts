import type { RoomEvent } from "../protocol/events";
import type { Message } from "../protocol/message";

/** How far one has read, and where what is new begins. */
export type Unread = {
  /** Everything up to here was read; `undefined` for who is no member, and so has nothing to read. */
  readonly read: number | undefined;
  /** What stood above it was known when the reader looked away. It stays there while they catch up. */
  readonly mark: number | undefined;
};

export type LookAction =
  /** Everything up to there is before the reader's eyes. */
  | { readonly type: "seen"; readonly seq: number }
  /** The page is hidden: what comes from here on is new. */
  | { readonly type: "looked_away" }
  /** The page is looked at again. */
  | { readonly type: "looked_back"; readonly newest: number };

export const nothingRead: Unread = { read: undefined, mark: undefined };

export function reduceLook(unread: Unread, action: LookAction): Unread {
  switch (action.type) {
    case "seen":
      return readTo(unread, action.seq);
    case "looked_away":
      return { ...unread, mark: unread.read };
    case "looked_back":
      return settled(unread, action.newest);
  }
}

/** `me` is who reads: what they say themselves is nothing new. */
export function reduceUnread(unread: Unread, event: RoomEvent, me: string | undefined): Unread {
  if (event.type === "joined" && event.member !== undefined) {
    const { read } = event.member;
    return unread.read === undefined ? { read, mark: read } : readTo(unread, read);
  }
  // What comes until the connection is back is new: the line stands above it.
  if (event.type === "closed") return unread.mark === undefined ? { ...unread, mark: unread.read } : unread;
  if (event.type === "described") return settled(unread, event.conversation.last);
  if (event.type === "page") return settled(unread, event.last);
  if (event.type === "read") return readTo(unread, event.seq);
  if (event.type === "said" && event.message.sender === me) {
    return { ...readTo(unread, event.message.seq), mark: undefined };
  }
  return unread;
}

export function unreadCount({ read }: Unread, newest: number): number {
  return read === undefined ? 0 : Math.max(newest - read, 0);
}

/** The place of the first message that is new to the reader, if it is shown: above it stands the divider. */
export function firstNew({ mark }: Unread, shown: readonly Message[], me: string | undefined): number | undefined {
  const [oldest] = shown;
  if (mark === undefined || oldest === undefined || oldest.seq > mark + 1) return undefined;
  return shown.find((message) => message.seq > mark && message.sender !== me)?.seq;
}

/** Where nothing new came, what comes now is seen as it comes. */
function settled(unread: Unread, newest: number): Unread {
  return unread.mark !== undefined && newest <= unread.mark ? { ...unread, mark: undefined } : unread;
}

/** Forward only. */
function readTo(unread: Unread, seq: number): Unread {
  return unread.read === undefined || seq <= unread.read ? unread : { ...unread, read: seq };
}
