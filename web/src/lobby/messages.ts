/** What the page remembers of the talk: the newest entries, oldest first. Whatever is older is gone. */

export const ENTRIES_MAX = 500;

export type Message = {
  readonly kind: "message";
  readonly id: number;
  readonly name: string;
  readonly body: string;
  /** When it arrived here, in milliseconds of Unix time: the lobby's messages carry no time of their own. */
  readonly at: number;
};

/** Marks a time without connection: what was said meanwhile is not known here. */
export type Gap = {
  readonly kind: "gap";
  readonly id: number;
  readonly at: number;
};

export type Entry = Message | Gap;

export type Messages = {
  readonly entries: readonly Entry[];
  /** The id of the next entry; ids only grow, so the newest id also counts what ever arrived. */
  readonly nextId: number;
};

export const noMessages: Messages = { entries: [], nextId: 0 };

export function addMessage(messages: Messages, said: { name: string; body: string }, at: number): Messages {
  return append(messages, { kind: "message", id: messages.nextId, name: said.name, body: said.body, at });
}

/** Two gaps with nothing between them are one; before the first entry nothing can have been missed. */
export function addGap(messages: Messages, at: number): Messages {
  const last = messages.entries.at(-1);
  if (last === undefined || last.kind === "gap") return messages;
  return append(messages, { kind: "gap", id: messages.nextId, at });
}

function append(messages: Messages, entry: Entry): Messages {
  return { entries: [...messages.entries, entry].slice(-ENTRIES_MAX), nextId: messages.nextId + 1 };
}
