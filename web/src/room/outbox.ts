import type { Fault } from "../protocol/fault";
import type { Draft } from "../protocol/talk";

/** Messages of this page that the server has not confirmed: on their way, held back, or failed and waiting for a decision. */

export type Outgoing = Draft & {
  readonly status:
    | { readonly kind: "sending" }
    /** It came too soon, and is sent again by itself then (in milliseconds of Unix time). */
    | { readonly kind: "held"; readonly until: number }
    | { readonly kind: "refused"; readonly fault: Fault };
};

export type Outbox = readonly Outgoing[];

export type OutboxEvent =
  /** For the first time, or again. */
  | { readonly type: "send_started"; readonly draft: Draft }
  | { readonly type: "send_delivered"; readonly id: string }
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
    case "send_delivered":
    case "send_discarded":
      return outbox.filter((outgoing) => outgoing.id !== event.id);
    case "send_held":
      return withStatus(outbox, event.id, { kind: "held", until: event.until });
    case "send_refused":
      return withStatus(outbox, event.id, { kind: "refused", fault: event.fault });
  }
}

function withStatus(outbox: Outbox, id: string, status: Outgoing["status"]): Outbox {
  return outbox.map((outgoing) => (outgoing.id === id ? { ...outgoing, status } : outgoing));
}
