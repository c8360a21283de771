import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import { noAnswer, parseFault } from "../protocol/fault";
import { lobby, sample } from "../protocol/message.sample";
import { postponed } from "./outbox";
import { besideRoom, emptyRoom, reduceRoom, type RoomAction, type RoomState } from "./state";

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
  const conversation = lobby({ title: "Den", slowModeS: 5 });
  expect(after(opened, joined, happened({ type: "described", conversation })).conversation?.title).toBe("Den");
});

test("the community's name and colour may change, and stay under a new name", () => {
  const described = (name: string): RoomAction => happened({ type: "community_described", community: { name, color: "#336699" } });
  expect(after(opened, joined, described("Acme"), described("Acme Ltd"), entered).community).toEqual({
    name: "Acme Ltd",
    color: "#336699",
  });
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
  expect(reduceRoom(muted, { type: "send_delivered", id: "a", seq: 1 }).standing.muted).toBeUndefined();
});

test("what got no answer where there is no connection waits for the next one, and else for a decision", () => {
  const draft = { id: "a", text: "hi", replyTo: undefined };
  const unanswered: RoomAction = { type: "send_refused", id: "a", fault: noAnswer };
  const online = after(opened, joined, { type: "send_started", draft });
  expect(reduceRoom(online, unanswered).outbox[0]?.status).toEqual({ kind: "refused", fault: noAnswer });
  const cut = reduceRoom(online, happened({ type: "closed", why: undefined }));
  expect(reduceRoom(cut, unanswered).outbox[0]?.status).toEqual({ kind: "waiting" });
});

test("what was written in private goes out over another place in the room as well, unless one is somebody else there", () => {
  const drafts = ["a", "b"].map((id) => ({ id, text: `text of ${id}`, replyTo: undefined }));
  const written: RoomAction[] = [
    joined,
    ...drafts.map((draft): RoomAction => ({ type: "send_started", draft })),
    { type: "send_held", id: "b", until: 9 },
    entered,
    // Nothing is held back where there is no connection.
    { type: "send_postponed", id: "b" },
    opened,
  ];
  const beside = written.reduce(reduceRoom, besideRoom(after(opened, joined)));
  expect(beside.link).toEqual({ phase: "joining", transport: "websocket" });
  const again = reduceRoom(beside, joined);
  expect(again.link.phase).toBe("online");
  expect(postponed(again.outbox).map(({ id }) => id)).toEqual(["a", "b"]);
  const bob = happened({ type: "joined", me: { ...me, person: "bob" }, member: undefined });
  expect(reduceRoom(beside, bob).outbox.map(({ status }) => status.kind)).toEqual(["refused", "refused"]);
});

test("a message leaves the outbox when it stands in the talk, whichever of it and its answer came first", () => {
  const draft = { id: "a", text: "hi", replyTo: undefined };
  const sent: RoomAction = { type: "send_started", draft };
  const told = happened({ type: "said", message: sample(2, { clientId: "a" }) });
  const stored: RoomAction = { type: "send_delivered", id: "a", seq: 2 };
  const ahead = after(opened, joined, sent, stored);
  expect(ahead.outbox[0]?.status).toEqual({ kind: "stored", seq: 2 });
  expect(reduceRoom(reduceRoom(ahead, said), told).outbox).toEqual([]);
  expect(after(opened, joined, sent, said, told).outbox).toEqual([]);
  expect(after(opened, joined, sent, said, told, stored).outbox).toEqual([]);
});

test("that not everything could be brought is said until it is dismissed", () => {
  const lost = after(happened({ type: "page", messages: [], first: 1, last: 0, lost: "too_many" }));
  expect(lost.lost).toBe("too_many");
  expect(reduceRoom(lost, { type: "loss_dismissed" }).lost).toBeUndefined();
});

test("why a message to which one was led did not come is said", () => {
  const missing = (where: "around" | "earlier"): RoomState => after(happened({ type: "not_brought", where, fault: noAnswer }));
  expect(missing("around").fault).toBe(noAnswer);
  expect(missing("earlier").fault).toBeUndefined();
});

test("why something did not happen is shown until it is dismissed", () => {
  const failed = after({ type: "failed", fault: noAnswer });
  expect(failed.fault).toBe(noAnswer);
  expect(reduceRoom(failed, { type: "fault_dismissed" }).fault).toBeUndefined();
});
