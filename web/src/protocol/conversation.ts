import { all, count, fields, text } from "./payload";

const KINDS = ["public", "members", "private", "direct", "group"] as const;

/** Rooms for all, for those with an account, or for the invited; two people; several. */
export type ConversationKind = (typeof KINDS)[number];

/** What a conversation is called, and where its messages stand. */
export type Conversation = {
  readonly id: string;
  readonly kind: ConversationKind;
  /** A room's name in its address. */
  readonly name: string | undefined;
  /** The two people of a direct conversation. */
  readonly pair: readonly string[];
  readonly title: string;
  /** What it is about; may be empty. */
  readonly topic: string;
  /** Seconds between two messages of one member; 0 without slow mode. */
  readonly slowModeS: number;
  /** The place of the oldest message that is kept; behind `last` if none is. */
  readonly first: number;
  /** The place of the newest message; 0 before the first. */
  readonly last: number;
  /** Counts edits, deletes and reactions. */
  readonly revision: number;
  /** When the newest message was sent, in milliseconds of Unix time; else when it was made. */
  readonly active: number;
};

export function parseConversation(payload: unknown): Conversation | undefined {
  const conversation = fields(payload);
  const id = text(conversation["id"]);
  if (id === undefined) return undefined;
  return {
    id,
    kind: KINDS.find((kind) => kind === conversation["kind"]) ?? "public",
    name: text(conversation["name"]),
    pair: all(conversation["pair"], text),
    title: text(conversation["title"]) ?? "",
    topic: text(conversation["topic"]) ?? "",
    slowModeS: count(conversation["slow_mode_s"]) ?? 0,
    first: count(conversation["first"]) ?? 1,
    last: count(conversation["last"]) ?? 0,
    revision: count(conversation["revision"]) ?? 0,
    active: count(conversation["active"]) ?? 0,
  };
}

/** Whether it is a room, with a topic and an address of its own. */
export function isRoom({ kind }: Conversation): boolean {
  return kind !== "direct" && kind !== "group";
}
