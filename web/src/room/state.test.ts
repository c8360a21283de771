import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import { noAnswer, parseFault } from "../protocol/fault";
import { sample } from "../protocol/message.sample";
import { emptyRoom, reduceRoom, type RoomAction, type RoomState } from "./state";

function after(...actions: RoomAction[]): RoomState {
  return actions.reduce(reduceRoom, emptyRoom);
}

function happened(event: RoomEvent): RoomAction {
  return { type: "happened", event };
}

const me = { person: "ann", name: "Ann", guest: true, role: undefined };
const entered: RoomAction = { type: "entered" };
const opened = happened({ type: "opened", transport: "websocket" });
const joined = happened({ type: "joined", me, member: { role: "guest", read: 0 } });
const said = happened({ type: "said", message: sample(1) });

test("a join says who one is, and what one may do", () => {
  expect(after(entered, opened, joined)).toMatchObject({
    me: "ann",
    link: { phase: "online" },
    standing: { here: "guest", speaks: true },
  });
});

test("what the room is called may change", () => {
  const conversation = { id: "01J", title: "Den", topic: "", slowModeS: 5, first: 1, last: 0, revision: 0 };
  expect(after(opened, joined, happened({ type: "described", conversation })).conversation?.title).toBe("Den");
});

test("a new name keeps the talk and forgets who was here", () => {
  const listed = happened({ type: "people_listed", people: [{ person: "ann", status: "online" }] });
  const renamed = after(entered, opened, joined, listed, said, entered);
  expect(renamed.people).toEqual({ kind: "unknown" });
  expect(renamed.link).toEqual({ phase: "connecting" });
  expect(renamed.messages.shown).toEqual([sample(1)]);
});

test("a refused message tells that one is muted, a delivered one that one is not", () => {
  const fault = parseFault({ code: "muted", message: "muted", details: { until: 9 } });
  const muted = after({ type: "send_started", draft: { id: "a", text: "hi", replyTo: undefined } }, { type: "send_refused", id: "a", fault });
  expect(muted.standing.muted).toEqual({ until: 9 });
  expect(reduceRoom(muted, { type: "send_delivered", id: "a" }).standing.muted).toBeUndefined();
});

test("why something did not happen is shown until it is dismissed", () => {
  const failed = after({ type: "failed", fault: noAnswer });
  expect(failed.fault).toBe(noAnswer);
  expect(reduceRoom(failed, { type: "fault_dismissed" }).fault).toBeUndefined();
});
