/** Messages of this page that the server has not confirmed: on their way, or failed and waiting for a decision. */

export type Outgoing = {
  /** Under which the server knows it, too: sent again, it is the same message. */
  readonly id: string;
  readonly text: string;
  readonly status:
    | { readonly kind: "sending" }
    | { readonly kind: "refused"; readonly reason: string }
    | { readonly kind: "unconfirmed" };
};

export type Outbox = readonly Outgoing[];

export type OutboxEvent =
  /** For the first time, or again. */
  | { readonly type: "send_started"; readonly id: string; readonly text: string }
  | { readonly type: "send_delivered"; readonly id: string }
  | { readonly type: "send_refused"; readonly id: string; readonly reason: string }
  | { readonly type: "send_unconfirmed"; readonly id: string }
  | { readonly type: "send_discarded"; readonly id: string };

export const nothingOutgoing: Outbox = [];

export function reduceOutbox(outbox: Outbox, event: OutboxEvent): Outbox {
  switch (event.type) {
    case "send_started":
      return outbox.some(({ id }) => id === event.id)
        ? withStatus(outbox, event.id, { kind: "sending" })
        : [...outbox, { id: event.id, text: event.text, status: { kind: "sending" } }];
    case "send_delivered":
    case "send_discarded":
      return outbox.filter((outgoing) => outgoing.id !== event.id);
    case "send_refused":
      return withStatus(outbox, event.id, { kind: "refused", reason: event.reason });
    case "send_unconfirmed":
      return withStatus(outbox, event.id, { kind: "unconfirmed" });
  }
}

function withStatus(outbox: Outbox, id: string, status: Outgoing["status"]): Outbox {
  return outbox.map((outgoing) => (outgoing.id === id ? { ...outgoing, status } : outgoing));
}
