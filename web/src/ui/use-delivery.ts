import { useEffect, useMemo, useRef } from "preact/hooks";
import { randomId } from "../identity/random-id";
import type { Answer } from "../protocol/ask";
import type { Draft } from "../protocol/talk";
import { holdMs, type OutboxEvent } from "../room/outbox";

export type Delivery = {
  readonly send: (text: string, replyTo: number | undefined) => void;
  /** Sends a failed message again, as the same one. */
  readonly resend: (draft: Draft) => void;
  /** Takes a message that was not delivered out of the outbox. */
  readonly discard: (id: string) => void;
};

/** Brings messages on their way. What came too soon is held back, and sent again when it may be. */
export function useDelivery(
  send: (draft: Draft) => Promise<Answer> | undefined,
  tell: (event: OutboxEvent) => void,
): Delivery {
  const way = useRef(send);
  way.current = send;
  const held = useRef(new Map<string, ReturnType<typeof setTimeout>>());

  useEffect(() => {
    const timers = held.current;
    return () => {
      for (const timer of timers.values()) clearTimeout(timer);
    };
  }, []);

  return useMemo((): Delivery => {
    function release(id: string): void {
      clearTimeout(held.current.get(id));
      held.current.delete(id);
    }

    function deliver({ id, text, replyTo }: Draft): void {
      const draft = { id, text, replyTo };
      release(id);
      tell({ type: "send_started", draft });
      void way.current(draft)?.then((answer) => {
        if (answer.ok) {
          tell({ type: "send_delivered", id });
          return;
        }
        const wait = holdMs(answer.fault);
        if (wait === undefined) {
          tell({ type: "send_refused", id, fault: answer.fault });
          return;
        }
        tell({ type: "send_held", id, until: Date.now() + wait });
        held.current.set(id, setTimeout(() => { deliver(draft); }, wait));
      });
    }

    return {
      send: (text, replyTo) => { deliver({ id: randomId(), text, replyTo }); },
      resend: deliver,
      discard: (id) => {
        release(id);
        tell({ type: "send_discarded", id });
      },
    };
  }, [tell]);
}
