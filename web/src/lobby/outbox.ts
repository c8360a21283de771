/** Messages of this page that the server has not confirmed: on their way, or failed and waiting for a decision. */

export type Outgoing = {
  readonly id: number;
  readonly body: string;
  readonly status:
    | { readonly kind: "sending" }
    | { readonly kind: "refused"; readonly reason: string }
    | { readonly kind: "unconfirmed" };
};

export type Outbox = readonly Outgoing[];

export type OutboxEvent =
  | { readonly type: "send_started"; readonly id: number; readonly body: string }
  | { readonly type: "send_delivered"; readonly id: number }
  | { readonly type: "send_refused"; readonly id: number; readonly reason: string }
  | { readonly type: "send_unconfirmed"; readonly id: number }
  | { readonly type: "send_discarded"; readonly id: number };

export const nothingOutgoing: Outbox = [];

export function reduceOutbox(outbox: Outbox, event: OutboxEvent): Outbox {
  switch (event.type) {
    case "send_started":
      return [...outbox, { id: event.id, body: event.body, status: { kind: "sending" } }];
    case "send_delivered":
    case "send_discarded":
      return outbox.filter((outgoing) => outgoing.id !== event.id);
    case "send_refused":
      return withStatus(outbox, event.id, { kind: "refused", reason: event.reason });
    case "send_unconfirmed":
      return withStatus(outbox, event.id, { kind: "unconfirmed" });
  }
}

function withStatus(outbox: Outbox, id: number, status: Outgoing["status"]): Outbox {
  return outbox.map((outgoing) => (outgoing.id === id ? { ...outgoing, status } : outgoing));
}
