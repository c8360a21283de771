import { expect, test } from "vitest";
import { noAnswer, parseFault } from "../protocol/fault";
import { holdMs, nothingOutgoing, reduceOutbox, type Outbox, type OutboxEvent } from "./outbox";

const draft = (id: string, replyTo?: number) => ({ id, text: `text of ${id}`, replyTo });

function after(...events: OutboxEvent[]): Outbox {
  return events.reduce(reduceOutbox, nothingOutgoing);
}

test("a message stays in the outbox until it is delivered or given up", () => {
  const two = after(
    { type: "send_started", draft: draft("a") },
    { type: "send_started", draft: draft("b", 3) },
    { type: "send_refused", id: "b", fault: noAnswer },
  );
  expect(two).toEqual([
    { ...draft("a"), status: { kind: "sending" } },
    { ...draft("b", 3), status: { kind: "refused", fault: noAnswer } },
  ]);
  const one = reduceOutbox(two, { type: "send_delivered", id: "a" });
  expect(reduceOutbox(one, { type: "send_discarded", id: "b" })).toEqual([]);
});

test("what is sent again is the same message", () => {
  const again = after(
    { type: "send_started", draft: draft("a") },
    { type: "send_held", id: "a", until: 9 },
    { type: "send_started", draft: draft("a") },
  );
  expect(again).toEqual([{ ...draft("a"), status: { kind: "sending" } }]);
});

test("what came too soon is held back, unless that takes long", () => {
  const fault = (code: string, retry_after_ms?: number) => parseFault({ code, message: "", details: { retry_after_ms } });
  expect(holdMs(fault("slow_mode", 700))).toBe(950);
  expect(holdMs(fault("rate_limited", 50))).toBe(300);
  expect(holdMs(fault("slow_mode", 3_600_000))).toBeUndefined();
  expect(holdMs(fault("slow_mode"))).toBeUndefined();
  expect(holdMs(fault("muted", 700))).toBeUndefined();
});
