import { parseMessage, type Message } from "./message";
import { all, fields, text } from "./payload";

/** Messages of one page of what was found. */
const FOUND_MAX = 20;

/** A message that has the words of a search. */
export type Hit = {
  readonly id: string;
  readonly conversation: string;
  readonly message: Message;
};

/** One page of what was found, the newest first. */
export type Found = {
  readonly hits: readonly Hit[];
  /** What the next page begins behind; `undefined` on the last one. */
  readonly next: string | undefined;
};

export type Question = {
  readonly query: string;
  /** Where; `undefined` in all conversations that one is in. */
  readonly within: string | undefined;
  /** Only what is older than that message. */
  readonly before: string | undefined;
};

/** What `search` takes. */
export function searchFor({ query, within, before }: Question): object {
  return {
    query,
    limit: FOUND_MAX,
    ...(within === undefined ? {} : { conversation: within }),
    ...(before === undefined ? {} : { before }),
  };
}

/** `search`: `{"messages": […], "next": string | null}`. */
export function parseFound(response: unknown): Found {
  const { messages, next } = fields(response);
  return { hits: all(messages, parseHit), next: text(next) };
}

function parseHit(payload: unknown): Hit | undefined {
  const { id, conversation } = fields(payload);
  const message = parseMessage(payload);
  if (message === undefined || typeof id !== "string" || typeof conversation !== "string") return undefined;
  return { id, conversation, message };
}
