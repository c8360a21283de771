import type { RoomEvent } from "../protocol/events";
import type { Message } from "../protocol/wire";

/** What the page shows of the talk: one stretch of places without holes, the oldest first. */

export const MESSAGES_MAX = 2000;

export type Messages = {
  readonly shown: readonly Message[];
  /** Whether there are older ones to be asked for. */
  readonly more: boolean;
  /** Counts what ever came at the end. */
  readonly arrived: number;
};

export const noMessages: Messages = { shown: [], more: false, arrived: 0 };

export function reduceMessages(messages: Messages, event: RoomEvent): Messages {
  switch (event.type) {
    case "page":
      return { shown: event.messages, more: event.more, arrived: messages.arrived + 1 };
    case "earlier":
      return prepend(messages, event.messages, event.more);
    case "said":
      return append(messages, event.message);
    case "changed":
      return replace(messages, event.message.seq, (message) => ({
        // An edit says nothing of reactions; a tombstone has none.
        ...event.message,
        reactions: event.message.deleted ? [] : message.reactions,
      }));
    case "reacted":
      return replace(messages, event.seq, (message) => ({ ...message, reactions: event.reactions }));
    case "opened":
    case "closed":
    case "joined":
    case "refused":
    case "interrupted":
    case "removed":
    case "named":
    case "people_listed":
    case "person_changed":
    case "people_counted":
      return messages;
  }
}

/** What falls out at the beginning can be asked for again. */
function append(messages: Messages, message: Message): Messages {
  const shown = [...messages.shown, message];
  const tooMany = shown.length > MESSAGES_MAX;
  return {
    shown: tooMany ? shown.slice(-MESSAGES_MAX) : shown,
    more: messages.more || tooMany,
    arrived: messages.arrived + 1,
  };
}

/** An answer that comes too late, to what is no longer the beginning, is dropped. */
function prepend(messages: Messages, earlier: readonly Message[], more: boolean): Messages {
  const [first] = messages.shown;
  const last = earlier.at(-1);
  if (last === undefined) return { ...messages, more };
  if (first === undefined || last.seq + 1 !== first.seq) return messages;
  const room = Math.max(MESSAGES_MAX - messages.shown.length, 0);
  const fitting = room === 0 ? [] : earlier.slice(-room);
  return { ...messages, shown: [...fitting, ...messages.shown], more: more && fitting.length > 0 };
}

function replace(messages: Messages, seq: number, change: (message: Message) => Message): Messages {
  return { ...messages, shown: messages.shown.map((each) => (each.seq === seq ? change(each) : each)) };
}
