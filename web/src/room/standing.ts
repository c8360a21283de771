import type { RoomEvent } from "../protocol/events";
import type { Message } from "../protocol/message";
import { higher, isAbove, type Role } from "../protocol/person";

/** What one may do in the room, as far as this page knows. The server has the last word. */
export type Standing = {
  /** The role in every room of the community. */
  readonly everywhere: Role | undefined;
  /** The role in this room. */
  readonly here: Role | undefined;
  /** Whether one is in it, and does not only look. */
  readonly speaks: boolean;
  readonly muted: { readonly until: number | undefined } | undefined;
};

export const noStanding: Standing = { everywhere: undefined, here: undefined, speaks: true, muted: undefined };

export function reduceStanding(standing: Standing, event: RoomEvent): Standing {
  if (event.type === "joined") {
    const { me, member } = event;
    const speaks = member !== undefined || me.role !== undefined;
    return { ...standing, everywhere: me.role, here: member?.role, speaks };
  }
  if (event.type === "role_given") return { ...standing, here: event.role };
  if (event.type === "muted") return { ...standing, muted: event.on ? { until: event.until } : undefined };
  return standing;
}

export function mayEdit(standing: Standing, me: string | undefined, message: Message): boolean {
  return standing.speaks && message.sender === me && message.deleted === undefined;
}

/** Whether an author's role is below one's own, the server knows. */
export function mayDelete(standing: Standing, me: string | undefined, message: Message): boolean {
  if (message.deleted !== undefined) return false;
  return message.sender === me || isAbove(higher(standing.here, standing.everywhere), "member");
}
