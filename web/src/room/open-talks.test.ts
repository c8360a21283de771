import { expect, test } from "vitest";
import { noAnswer } from "../protocol/fault";
import { closed, isDone, nothingOpen, opened } from "./open-talks";
import { reduceOutbox, type Outbox } from "./outbox";
import { emptyRoom } from "./state";

test("a conversation stays open when another one is shown, until it is closed", () => {
  const two = opened(opened(nothingOpen, "bob"), "cat");
  expect(two).toEqual(["bob", "cat"]);
  expect(opened(two, "bob")).toBe(two);
  expect(opened(two, undefined)).toBe(two);
  expect(closed(two, "bob")).toEqual(["cat"]);
});

test("a conversation is done when nothing that was written there is unsent, or nothing can be sent any more", () => {
  const draft = { id: "a", text: "hi", replyTo: undefined };
  const unsent: Outbox = [{ ...draft, status: { kind: "refused", fault: noAnswer } }];
  const { link } = emptyRoom;
  expect(isDone({ link, outbox: [] })).toBe(true);
  expect(isDone({ link, outbox: unsent })).toBe(false);
  expect(isDone({ link, outbox: reduceOutbox(unsent, { type: "send_delivered", id: "a", seq: 1 }) })).toBe(true);
  expect(isDone({ link: { phase: "removed" }, outbox: unsent })).toBe(true);
});
