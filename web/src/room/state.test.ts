import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import { emptyRoom, reduceRoom, type RoomAction, type RoomState } from "./state";

function after(...actions: RoomAction[]): RoomState {
  return actions.reduce(reduceRoom, emptyRoom);
}

function happened(event: RoomEvent): RoomAction {
  return { type: "happened", event };
}

const entered: RoomAction = { type: "entered" };
const opened = happened({ type: "opened", transport: "websocket" });
const joined = happened({ type: "joined", me: "ann", title: "Lobby" });
const message = { seq: 1, sender: "ann", text: "hello", at: 1, edited: false, deleted: false, reactions: [] };
const said = happened({ type: "said", message });

test("a join says who one is and what the room is called", () => {
  expect(after(entered, opened, joined)).toMatchObject({ me: "ann", title: "Lobby", link: { phase: "online" } });
});

test("a new name keeps the talk and forgets who was here", () => {
  const listed = happened({ type: "people_listed", people: [{ person: "ann", status: "online" }] });
  const renamed = after(entered, opened, joined, listed, said, entered);
  expect(renamed.people).toEqual({ kind: "unknown" });
  expect(renamed.link).toEqual({ phase: "connecting" });
  expect(renamed.messages.shown).toEqual([message]);
});

test("a message stays in the outbox until it is delivered or given up", () => {
  const two = after(
    { type: "send_started", id: "a", text: "one" },
    { type: "send_started", id: "b", text: "two" },
    { type: "send_refused", id: "b", reason: "too long" },
  );
  expect(two.outbox).toEqual([
    { id: "a", text: "one", status: { kind: "sending" } },
    { id: "b", text: "two", status: { kind: "refused", reason: "too long" } },
  ]);
  const one = reduceRoom(two, { type: "send_delivered", id: "a" });
  expect(reduceRoom(one, { type: "send_discarded", id: "b" }).outbox).toEqual([]);
});

test("what is sent again is the same message", () => {
  const again = after(
    { type: "send_started", id: "a", text: "one" },
    { type: "send_unconfirmed", id: "a" },
    { type: "send_started", id: "a", text: "one" },
  );
  expect(again.outbox).toEqual([{ id: "a", text: "one", status: { kind: "sending" } }]);
});
