import type { Conversation } from "./conversation";
import type { Message } from "./message";

/** A message for tests: Ann's, whose text is its place. */
export function sample(seq: number, more: Partial<Message> = {}): Message {
  return {
    seq,
    sender: "ann",
    clientId: undefined,
    text: `${seq}`,
    at: seq,
    replyTo: undefined,
    mentions: [],
    edited: false,
    deleted: undefined,
    revision: 0,
    reactions: [],
    ...more,
  };
}

/** Messages of consecutive places. */
export function samples(first: number, last: number): Message[] {
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, at) => sample(first + at));
}

/** The same as they come over the wire. */
export function written(seq: number, more: object = {}): object {
  return { seq, id: "01J", sender: "ann", text: `${seq}`, at: seq, reply_to: null, mentions: [], revision: 0, ...more };
}

/** A room, as it is known. */
export function lobby(more: Partial<Conversation> = {}): Conversation {
  return {
    id: "01J",
    kind: "public",
    name: "lobby",
    pair: [],
    title: "Lobby",
    topic: "",
    slowModeS: 0,
    first: 1,
    last: 0,
    revision: 0,
    active: 0,
    ...more,
  };
}

/** What a conversation is over the wire. */
export function conversation(first: number, last: number, revision = 0): object {
  return { id: "01J", kind: "public", name: "lobby", title: "Lobby", topic: "", slow_mode_s: 0, first, last, revision };
}

/** What is none of all that. */
export const junk: readonly unknown[] = [undefined, null, 7, "text", [], {}, new ArrayBuffer(2)];
