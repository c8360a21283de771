import { hasUnsent } from "./outbox";
import type { RoomState } from "./state";

/**
 * The private conversations that are open: the one that is shown, and those that were shown before and have something left
 * to send. There are as many as somebody wrote in without waiting for what became of it.
 */
export type OpenTalks = readonly string[];

export const nothingOpen: OpenTalks = [];

/** `conversation` is the one that is shown now, if one is. */
export function opened(open: OpenTalks, conversation: string | undefined): OpenTalks {
  return conversation === undefined || open.includes(conversation) ? open : [...open, conversation];
}

export function closed(open: OpenTalks, conversation: string): OpenTalks {
  return open.filter((each) => each !== conversation);
}

/** Whether a conversation that is not shown has nothing left to send. Where one is not any more, nothing can be sent. */
export function isDone({ link, outbox }: Pick<RoomState, "link" | "outbox">): boolean {
  return link.phase === "removed" || !hasUnsent(outbox);
}
