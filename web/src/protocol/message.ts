import { all, count, fields, isRecord, place, text } from "./payload";

/** How often an emoji was given, and whether by oneself. */
export type Tally = { readonly emoji: string; readonly count: number; readonly mine: boolean };

export type Message = {
  /** Its place in the room: 1, 2, 3, … without a hole. */
  readonly seq: number;
  readonly sender: string;
  /** What its sender called it before it had a place. */
  readonly clientId: string | undefined;
  readonly text: string;
  /** When it was stored, in milliseconds of Unix time. */
  readonly at: number;
  /** The place of the message that it answers. */
  readonly replyTo: number | undefined;
  /** The people whom it names. */
  readonly mentions: readonly string[];
  readonly edited: boolean;
  /** A tombstone: its text is gone, its place stays. `moderated` if somebody else than its author did it. */
  readonly deleted: { readonly moderated: boolean } | undefined;
  /** What the room's revision was when it changed last. */
  readonly revision: number;
  readonly reactions: readonly Tally[];
};

/** Somebody reacted, or took it back. The tallies of the event do not say which are one's own. */
export type Reacted = {
  readonly seq: number;
  readonly person: string;
  readonly emoji: string;
  readonly on: boolean;
  readonly reactions: readonly Tally[];
  readonly revision: number;
};

export function parseMessage(payload: unknown): Message | undefined {
  const message = fields(payload);
  const { at } = message;
  const [seq, sender, said] = [place(message["seq"]), text(message["sender"]), text(message["text"])];
  if (seq === undefined || sender === undefined || said === undefined || typeof at !== "number") return undefined;
  const { deleted } = message;
  return {
    seq,
    sender,
    clientId: text(message["client_id"]),
    text: said,
    at,
    replyTo: place(message["reply_to"]),
    mentions: all(message["mentions"], text),
    edited: typeof message["edited"] === "number",
    deleted: isRecord(deleted) ? { moderated: deleted["moderated"] === true } : undefined,
    revision: count(message["revision"]) ?? 0,
    reactions: all(message["reactions"], parseTally),
  };
}

/** `react`: `{"seq", "person", "emoji", "on", "reactions", "revision"}`. */
export function parseReacted(payload: unknown): Reacted | undefined {
  const reacted = fields(payload);
  const [seq, person, emoji] = [place(reacted["seq"]), text(reacted["person"]), text(reacted["emoji"])];
  if (seq === undefined || person === undefined || emoji === undefined) return undefined;
  return {
    seq,
    person,
    emoji,
    on: reacted["on"] === true,
    reactions: all(reacted["reactions"], parseTally),
    revision: count(reacted["revision"]) ?? 0,
  };
}

/** The answer to what changes a message: `{"message", "reactions"}`. */
export function parseChanged(response: unknown): Message | undefined {
  const { message, reactions } = fields(response);
  return parseMessage({ ...fields(message), reactions });
}

function parseTally(payload: unknown): Tally | undefined {
  const tally = fields(payload);
  const [emoji, times] = [text(tally["emoji"]), count(tally["count"])];
  if (emoji === undefined || times === undefined) return undefined;
  return { emoji, count: times, mine: tally["mine"] === true };
}
