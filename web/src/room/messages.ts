import type { RoomEvent, Where } from "../protocol/events";
import type { Message } from "../protocol/message";
import { retally } from "./reactions";

/** What the page holds of the talk: one stretch of it without holes, the oldest message first. */

/** Messages held at once; what falls out at one end is asked for again when it is read again. */
export const MESSAGES_MAX = 500;

export type Messages = {
  readonly shown: readonly Message[];
  /** The place of the oldest message that the room keeps. */
  readonly first: number;
  /** The place of the newest message that is there, shown or not. */
  readonly newest: number;
  /** Whether the reader is at the end and goes with it. */
  readonly following: boolean;
  /** What was asked for and is not here yet. */
  readonly asked: { readonly where: Where; readonly failed: boolean } | undefined;
};

export type ReaderAction =
  /** Messages were asked for. */
  | { readonly type: "asked"; readonly where: Where }
  /** The reader came to the end, or left it. */
  | { readonly type: "followed"; readonly on: boolean };

export const noMessages: Messages = { shown: [], first: 1, newest: 0, following: true, asked: undefined };

/** Whether there are older ones to be asked for. */
export function hasEarlier({ shown, first }: Messages): boolean {
  const [oldest] = shown;
  return oldest !== undefined && oldest.seq > first;
}

/** Whether there are newer ones to be asked for. */
export function hasLater({ shown, newest }: Messages): boolean {
  const last = shown.at(-1);
  return last !== undefined && last.seq < newest;
}

/** The message at a place, if it is shown. Places are dense, or nearly. */
export function messageAt({ shown }: Messages, seq: number): Message | undefined {
  const near = shown[seq - (shown[0]?.seq ?? 0)];
  return near?.seq === seq ? near : shown.find((message) => message.seq === seq);
}

/** The last message of that person that can still be changed. */
export function lastOf({ shown }: Messages, person: string): Message | undefined {
  return shown.findLast((message) => message.sender === person && message.deleted === undefined);
}

export function reduceReader(messages: Messages, action: ReaderAction): Messages {
  switch (action.type) {
    case "asked":
      return { ...messages, asked: { where: action.where, failed: false } };
    case "followed":
      return messages.following === action.on ? messages : { ...messages, following: action.on };
  }
}

export function reduceMessages(messages: Messages, event: RoomEvent): Messages {
  switch (event.type) {
    case "joined":
      // What was asked for before is answered no more.
      return { ...messages, asked: undefined };
    case "page":
      return stretch({ ...noMessages, first: event.first }, event.messages, event.last);
    case "brought":
      return brought(answered({ ...messages, first: event.first }, event.where), event.where, event.messages, event.last);
    case "not_brought":
      return messages.asked?.where === event.where
        ? { ...messages, asked: { where: event.where, failed: true } }
        : messages;
    case "said":
      return said(messages, event.message);
    case "edited":
      return change(messages, event.message.seq, event.message.revision, (message) => ({
        ...event.message,
        reactions: event.message.deleted ? [] : message.reactions,
      }));
    case "changed":
      return change(messages, event.message.seq, event.message.revision, () => event.message);
    case "reacted":
      return change(messages, event.seq, event.revision, (message) => ({
        ...message,
        revision: event.revision,
        reactions: retally(message.reactions, event.reactions, event.emoji, event.mine),
      }));
    case "opened":
    case "closed":
    case "refused":
    case "interrupted":
    case "removed":
    case "described":
    case "community_described":
    case "quoted":
    case "typing":
    case "named":
    case "role_given":
    case "muted":
    case "read":
    case "people_listed":
    case "person_changed":
    case "people_counted":
    case "friends_seen":
    case "own_refused":
    case "tabs_changed":
    case "blocks_changed":
      return messages;
  }
}

/** Behind the end it is shown, unless that took something away from who reads further up. */
function said(messages: Messages, message: Message): Messages {
  const { shown, following } = messages;
  const newest = Math.max(messages.newest, message.seq);
  const known = message.seq <= (shown.at(-1)?.seq ?? 0);
  const full = shown.length >= MESSAGES_MAX && !following;
  if (known || full || hasLater(messages)) return { ...messages, newest };
  return { ...messages, newest, shown: [...shown, message].slice(-MESSAGES_MAX) };
}

/** An answer that does not fit to what is shown by now is dropped. */
function brought(messages: Messages, where: Where, more: readonly Message[], newest: number): Messages {
  const { shown } = messages;
  const [oldest, last] = [shown[0], shown.at(-1)];
  switch (where) {
    case "earlier":
      // Where nothing is older, this is the beginning.
      if (more.length === 0) return { ...messages, first: oldest?.seq ?? messages.first };
      if (more.at(-1)?.seq !== (oldest?.seq ?? 0) - 1) return messages;
      return { ...messages, shown: [...more, ...shown].slice(0, MESSAGES_MAX) };
    case "later":
      if (more.length === 0) return { ...messages, newest: last?.seq ?? messages.newest };
      if (more[0]?.seq !== (last?.seq ?? 0) + 1) return messages;
      return stretch(messages, [...shown, ...more].slice(-MESSAGES_MAX), newest);
    case "around":
    case "newest":
      return more.length === 0 ? messages : stretch(messages, more, newest);
  }
}

/** Another question may have taken the place of the one that is answered. */
function answered(messages: Messages, where: Where): Messages {
  return messages.asked?.where === where ? { ...messages, asked: undefined } : messages;
}

function stretch(messages: Messages, shown: readonly Message[], newest: number): Messages {
  return { ...messages, shown, newest: Math.max(messages.newest, newest, shown.at(-1)?.seq ?? 0) };
}

/** What is told may be older than what an answer has brought: the newer revision holds. */
function change(
  messages: Messages,
  seq: number,
  revision: number,
  to: (message: Message) => Message,
): Messages {
  const old = messageAt(messages, seq);
  if (old === undefined || revision < old.revision) return messages;
  return { ...messages, shown: messages.shown.map((each) => (each === old ? to(each) : each)) };
}
