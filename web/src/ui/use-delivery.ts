import { useEffect, useMemo, useRef } from "preact/hooks";
import { randomId } from "../identity/random-id";
import type { Answer } from "../protocol/ask";
import { fields, place } from "../protocol/payload";
import { NO_ANSWER, type Fault } from "../protocol/fault";
import type { Draft } from "../protocol/talk";
import { HeldLine } from "../room/held-line";
import { holdMs, postponed, type Outbox, type OutboxEvent } from "../room/outbox";

export type Delivery = {
  readonly send: (text: string, replyTo: number | undefined) => void;
  /** Sends a failed message again, as the same one. */
  readonly resend: (draft: Draft) => void;
  /** Takes a message that was not delivered out of the outbox. */
  readonly discard: (id: string) => void;
};

export type DeliveryOptions = {
  readonly outbox: Outbox;
  readonly online: boolean;
  readonly send: (draft: Draft) => Promise<Answer> | undefined;
  readonly tell: (event: OutboxEvent) => void;
};

/**
 * Brings messages on their way. What came too soon is held back, with what was written after it, and sent again when it
 * may be; what was not answered before the connection went is sent again on the next one, in the order in which it was
 * written.
 */
export function useDelivery(options: DeliveryOptions): Delivery {
  const latest = useRef(options);
  latest.current = options;
  /** The latest attempt of each message: that an earlier one got no answer is no news. */
  const attempts = useRef(new Map<string, symbol>());
  const { outbox, online, tell } = options;

  const { deliver, settled, line } = useMemo(() => {
    const line = new HeldLine({
      go: send,
      held: (id, until) => { tell({ type: "send_held", id, until }); },
    });

    /** Sends it, unless something that was written before it is held back. */
    function deliver({ id, text, replyTo }: Draft): void {
      const draft = { id, text, replyTo };
      tell({ type: "send_started", draft });
      if (!line.joinBehind(draft)) send(draft);
    }

    function send(draft: Draft): void {
      const { id } = draft;
      tell({ type: "send_started", draft });
      const answering = latest.current.online ? latest.current.send(draft) : undefined;
      if (answering === undefined) {
        tell({ type: "send_postponed", id });
        return;
      }
      const attempt = Symbol(id);
      attempts.current.set(id, attempt);
      void answering.then((answer) => {
        const isLatest = attempts.current.get(id) === attempt;
        if (answer.ok) {
          settled(id);
          tell({ type: "send_delivered", id, seq: place(fields(answer.response)["seq"]) ?? 0 });
        } else if (isLatest || answer.fault.code !== NO_ANSWER) {
          refused(draft, answer.fault);
        }
      });
    }

    function refused(draft: Draft, fault: Fault): void {
      const wait = holdMs(fault);
      if (wait !== undefined) {
        attempts.current.delete(draft.id);
        line.hold(draft, wait);
        return;
      }
      tell({ type: "send_refused", id: draft.id, fault });
      settled(draft.id);
    }

    function settled(id: string): void {
      attempts.current.delete(id);
      line.leave(id);
    }

    return { deliver, settled, line };
  }, [tell]);

  useEffect(() => () => { line.disband(); }, [line]);

  useEffect(() => {
    if (online) {
      for (const draft of postponed(outbox)) deliver(draft);
    } else {
      // Whatever waits goes out on the next connection, in one order.
      for (const { id } of line.disband()) tell({ type: "send_postponed", id });
    }
  }, [online, outbox, deliver, line, tell]);

  return useMemo(
    (): Delivery => ({
      send: (text, replyTo) => { deliver({ id: randomId(), text, replyTo }); },
      resend: deliver,
      discard: (id) => {
        tell({ type: "send_discarded", id });
        settled(id);
      },
    }),
    [deliver, settled, tell],
  );
}
