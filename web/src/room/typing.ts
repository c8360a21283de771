import type { RoomEvent } from "../protocol/events";

/** Who else types now, in the order in which they began. */
export type Typing = ReadonlySet<string>;

export const nobodyTypes: Typing = new Set();

export function reduceTyping(typing: Typing, event: RoomEvent): Typing {
  if (event.type !== "typing" || typing.has(event.person) === event.on) return typing;
  const next = new Set(typing);
  if (event.on) next.add(event.person);
  else next.delete(event.person);
  return next;
}

/** Names beyond these are a number. */
const NAMED_MAX = 3;

/** "Ann and Bob are typing…"; nothing if nobody does. */
export function typingWords(names: readonly string[]): string {
  const others = names.length - NAMED_MAX;
  const listed = others > 1 ? [...names.slice(0, NAMED_MAX), `${others} others`] : names;
  const [last] = listed.slice(-1);
  if (last === undefined) return "";
  if (listed.length === 1) return `${last} is typing…`;
  return `${listed.slice(0, -1).join(", ")} and ${last} are typing…`;
}
