import { useEffect, useMemo, useRef } from "preact/hooks";
import { randomId } from "../identity/random-id";
import type { Answer } from "../protocol/ask";
import { fields, place } from "../protocol/payload";
import { NO_ANSWER } from "../protocol/fault";
import type { Draft } from "../protocol/talk";
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
 * Brings messages on their way. What came too soon is held back, and sent again when it may be; what was not answered
 * before the connection went is sent again on the next one, in the order in which it was written.
 */
export function useDelivery(options: DeliveryOptions): Delivery {
  const latest = useRef(options);
  latest.current = options;
  const held = useRef(new Map<string, ReturnType<typeof setTimeout>>());
  /** The latest attempt of each message: that an earlier one got no answer is no news. */
  const attempts = useRef(new Map<string, symbol>());
  const { outbox, online, tell } = options;

  useEffect(() => {
    const timers = held.current;
    return () => {
      for (const timer of timers.values()) clearTimeout(timer);
    };
  }, []);

  const { deliver, release } = useMemo(() => {
    function release(id: string): void {
      clearTimeout(held.current.get(id));
      held.current.delete(id);
      attempts.current.delete(id);
    }

    function deliver({ id, text, replyTo }: Draft): void {
      const draft = { id, text, replyTo };
      release(id);
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
          release(id);
          tell({ type: "send_delivered", id, seq: place(fields(answer.response)["seq"]) ?? 0 });
        } else if (isLatest || answer.fault.code !== NO_ANSWER) {
          refuse(draft, answer.fault);
        }
      });
    }

    function refuse(draft: Draft, fault: Parameters<typeof holdMs>[0]): void {
      const { id } = draft;
      release(id);
      const wait = holdMs(fault);
      if (wait === undefined) {
        tell({ type: "send_refused", id, fault });
        return;
      }
      tell({ type: "send_held", id, until: Date.now() + wait });
      held.current.set(id, setTimeout(() => { deliver(draft); }, wait));
    }

    return { deliver, release };
  }, [tell]);

  useEffect(() => {
    if (!online) return;
    for (const draft of postponed(outbox)) deliver(draft);
  }, [online, outbox, deliver]);

  return useMemo(
    (): Delivery => ({
      send: (text, replyTo) => { deliver({ id: randomId(), text, replyTo }); },
      resend: deliver,
      discard: (id) => {
        release(id);
        tell({ type: "send_discarded", id });
      },
    }),
    [deliver, release, tell],
  );
}
