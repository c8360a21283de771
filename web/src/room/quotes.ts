import type { RoomEvent } from "../protocol/events";
import type { Message } from "../protocol/message";
import { messageAt, type Messages } from "./messages";

/** Messages that others answer and that are not shown themselves, by their places; `undefined` if they are not kept. */
export type Quotes = ReadonlyMap<number, Message | undefined>;

const QUOTES_MAX = 200;

export const noQuotes: Quotes = new Map();

export function reduceQuotes(quotes: Quotes, event: RoomEvent): Quotes {
  if (event.type === "page") return noQuotes;
  if (event.type === "quoted") return bounded(new Map(quotes).set(event.seq, event.message));
  if (event.type === "edited" || event.type === "changed") {
    const { message } = event;
    const known = quotes.get(message.seq);
    if (known !== undefined && known.revision <= message.revision) return new Map(quotes).set(message.seq, message);
  }
  return quotes;
}

/** What a message answers, as far as it is known. */
export type Quote =
  | { readonly kind: "known"; readonly message: Message }
  | { readonly kind: "gone" }
  | { readonly kind: "unknown" };

export function quoteOf(seq: number, messages: Messages, quotes: Quotes): Quote {
  const message = messageAt(messages, seq) ?? quotes.get(seq);
  if (message !== undefined) return { kind: "known", message };
  return { kind: quotes.has(seq) ? "gone" : "unknown" };
}

/** The places of what is answered and neither shown nor known yet. */
export function unquoted(messages: Messages, quotes: Quotes): number[] {
  const answered = messages.shown.flatMap(({ replyTo }) => (replyTo === undefined ? [] : [replyTo]));
  return [...new Set(answered)].filter((seq) => quoteOf(seq, messages, quotes).kind === "unknown").slice(-QUOTES_MAX);
}

function bounded(quotes: Map<number, Message | undefined>): Quotes {
  const [oldest] = quotes.keys();
  if (quotes.size > QUOTES_MAX && oldest !== undefined) quotes.delete(oldest);
  return quotes;
}
