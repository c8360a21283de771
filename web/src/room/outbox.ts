import { NO_ANSWER, noAnswer, type Fault } from "../protocol/fault";
import type { RoomEvent } from "../protocol/events";
import type { Message } from "../protocol/message";
import type { Draft } from "../protocol/talk";

/** Messages of this page that do not stand in the talk yet: on their way, held back, or failed and waiting for a decision. */

export type Outgoing = Draft & {
  readonly status:
    | { readonly kind: "sending" }
    /** The connection went before an answer came: it is sent again, as the same message, when there is one. */
    | { readonly kind: "waiting" }
    /** The server has it at that place; what stands before it is still on its way here. */
    | { readonly kind: "stored"; readonly seq: number }
    /** It came too soon, and is sent again by itself then (in milliseconds of Unix time). */
    | { readonly kind: "held"; readonly until: number }
    | { readonly kind: "refused"; readonly fault: Fault };
};

export type Outbox = readonly Outgoing[];

export type OutboxEvent =
  /** For the first time, or again. */
  | { readonly type: "send_started"; readonly draft: Draft }
  /** There is no connection on which to send it. */
  | { readonly type: "send_postponed"; readonly id: string }
  | { readonly type: "send_delivered"; readonly id: string; readonly seq: number }
  | { readonly type: "send_held"; readonly id: string; readonly until: number }
  | { readonly type: "send_refused"; readonly id: string; readonly fault: Fault }
  | { readonly type: "send_discarded"; readonly id: string };

export const nothingOutgoing: Outbox = [];

/** A longer wait is nothing to wait for: then one decides oneself. */
const HOLD_MS_MAX = 2 * 60 * 1000;
/** The server's clock and this one differ by a little. */
const MARGIN_MS = 250;

/** How long to hold back what was refused only because it came too soon. */
export function holdMs({ code, retryAfterMs }: Fault): number | undefined {
  if (code !== "slow_mode" && code !== "rate_limited") return undefined;
  return retryAfterMs === undefined || retryAfterMs > HOLD_MS_MAX ? undefined : retryAfterMs + MARGIN_MS;
}

export function reduceOutbox(outbox: Outbox, event: OutboxEvent): Outbox {
  switch (event.type) {
    case "send_started": {
      const { draft } = event;
      return outbox.some(({ id }) => id === draft.id)
        ? withStatus(outbox, draft.id, { kind: "sending" })
        : [...outbox, { ...draft, status: { kind: "sending" } }];
    }
    case "send_postponed":
      return withStatus(outbox, event.id, { kind: "waiting" });
    case "send_delivered":
      return withStatus(outbox, event.id, { kind: "stored", seq: event.seq });
    case "send_discarded":
      return outbox.filter((outgoing) => outgoing.id !== event.id);
    case "send_held":
      return withStatus(outbox, event.id, { kind: "held", until: event.until });
    case "send_refused":
      return withStatus(outbox, event.id, { kind: "refused", fault: event.fault });
  }
}

/**
 * What happens to the connection, and to the talk, tells of what is on its way. `before` is who one was, `me` who one is:
 * somebody else's messages are not sent again without a word, as they would be other messages.
 */
export function followOutbox(outbox: Outbox, event: RoomEvent, before: string | undefined, me: string | undefined): Outbox {
  if (outbox.length === 0) return outbox;
  switch (event.type) {
    case "closed":
    case "interrupted":
      return unanswered(outbox, { kind: "waiting" });
    case "joined":
      return before === undefined || before === me ? unanswered(outbox, { kind: "waiting" }) : givenUp(outbox);
    case "said":
      return shown(outbox, [event.message], me);
    case "page":
    case "brought":
      return shown(outbox, event.messages, me);
    case "opened":
    case "refused":
    case "removed":
    case "described":
    case "community_described":
    case "not_brought":
    case "quoted":
    case "edited":
    case "changed":
    case "reacted":
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
      return outbox;
  }
}

/** What was not answered is a matter of deciding: nobody knows whether it arrived. */
export function givenUp(outbox: Outbox): Outbox {
  return unanswered(outbox, { kind: "refused", fault: noAnswer });
}

/** What stands in the talk up to `newest` is not on its way any more. */
export function arrived(outbox: Outbox, newest: number): Outbox {
  const rest = outbox.filter(({ status }) => status.kind !== "stored" || status.seq > newest);
  return rest.length === outbox.length ? outbox : rest;
}

/** Whether something that was written is nowhere else. */
export function hasUnsent(outbox: Outbox): boolean {
  return outbox.some(({ status }) => status.kind !== "stored");
}

/** Those that wait for a connection, in the order in which they were written. */
export function postponed(outbox: Outbox): Outbox {
  return outbox.filter(({ status }) => status.kind === "waiting");
}

function unanswered(outbox: Outbox, status: Outgoing["status"]): Outbox {
  return outbox.map((outgoing) => (isUnanswered(outgoing) ? { ...outgoing, status } : outgoing));
}

function isUnanswered({ status }: Outgoing): boolean {
  const { kind } = status;
  return kind === "sending" || kind === "waiting" || (kind === "refused" && status.fault.code === NO_ANSWER);
}

function shown(outbox: Outbox, messages: readonly Message[], me: string | undefined): Outbox {
  const ids = new Set(messages.flatMap(({ sender, clientId }) => (sender === me && clientId !== undefined ? [clientId] : [])));
  return ids.size === 0 ? outbox : outbox.filter(({ id }) => !ids.has(id));
}

function withStatus(outbox: Outbox, id: string, status: Outgoing["status"]): Outbox {
  return outbox.map((outgoing) => (outgoing.id === id ? { ...outgoing, status } : outgoing));
}
