import { count, fields, text } from "./payload";

/** What a room is called, and where its messages stand. */
export type Conversation = {
  readonly id: string;
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
};

export function parseConversation(payload: unknown): Conversation | undefined {
  const conversation = fields(payload);
  const id = text(conversation["id"]);
  if (id === undefined) return undefined;
  return {
    id,
    title: text(conversation["title"]) ?? "",
    topic: text(conversation["topic"]) ?? "",
    slowModeS: count(conversation["slow_mode_s"]) ?? 0,
    first: count(conversation["first"]) ?? 1,
    last: count(conversation["last"]) ?? 0,
    revision: count(conversation["revision"]) ?? 0,
  };
}
