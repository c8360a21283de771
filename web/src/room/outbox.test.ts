import { expect, test } from "vitest";
import { noAnswer, parseFault } from "../protocol/fault";
import { sample } from "../protocol/message.sample";
import {
  arrived, followOutbox, hasUnsent, holdMs, nothingOutgoing, postponed, reduceOutbox, type Outbox, type OutboxEvent,
} from "./outbox";

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
  const one = arrived(reduceOutbox(two, { type: "send_delivered", id: "a", seq: 5 }), 5);
  expect(reduceOutbox(one, { type: "send_discarded", id: "b" })).toEqual([]);
});

test("what was not answered waits for the next connection, and is decided about where one is somebody else by then", () => {
  const two = after(
    { type: "send_started", draft: draft("a") },
    { type: "send_started", draft: draft("b") },
    { type: "send_refused", id: "b", fault: parseFault({ code: "muted" }) },
    { type: "send_started", draft: draft("c") },
  );
  const cut = followOutbox(two, { type: "closed", why: undefined }, "ann", "ann");
  expect(postponed(cut).map(({ id }) => id)).toEqual(["a", "c"]);
  const me = { person: "ann", name: "Ann", guest: true, role: undefined };
  expect(postponed(followOutbox(two, { type: "joined", me, member: undefined }, "ann", "ann"))).toHaveLength(2);
  expect(postponed(followOutbox(cut, { type: "joined", me, member: undefined }, "bob", "ann"))).toEqual([]);
});

test("what the server has is sent, and all else is not", () => {
  const started: OutboxEvent = { type: "send_started", draft: draft("a") };
  expect(hasUnsent(nothingOutgoing)).toBe(false);
  expect(hasUnsent(after(started, { type: "send_delivered", id: "a", seq: 5 }))).toBe(false);
  const unsent: OutboxEvent[] = [
    started,
    { type: "send_postponed", id: "a" },
    { type: "send_held", id: "a", until: 9 },
    { type: "send_refused", id: "a", fault: noAnswer },
  ];
  for (const event of unsent) expect(hasUnsent(after(started, event))).toBe(true);
});

test("another person's message under the same mark is another one", () => {
  const one = after({ type: "send_started", draft: draft("a") });
  const said = (sender: string) => ({ type: "said", message: sample(1, { sender, clientId: "a" }) }) as const;
  expect(followOutbox(one, said("bob"), "ann", "ann")).toHaveLength(1);
  expect(followOutbox(one, said("ann"), "ann", "ann")).toEqual([]);
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
