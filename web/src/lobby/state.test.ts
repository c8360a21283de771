import { expect, test } from "vitest";
import type { LobbyEvent } from "../protocol/events";
import { emptyLobby, reduceLobby, type LobbyAction, type LobbyState } from "./state";

function after(...actions: LobbyAction[]): LobbyState {
  return actions.reduce(reduceLobby, emptyLobby);
}

function happened(event: LobbyEvent): LobbyAction {
  return { type: "happened", event, at: 0 };
}

const entered: LobbyAction = { type: "entered" };
const opened = happened({ type: "opened", transport: "websocket" });
const joined = happened({ type: "joined" });
const closed = happened({ type: "closed" });
const removed = happened({ type: "removed" });
const said = happened({ type: "message", name: "Ann", body: "hello" });

function kinds(state: LobbyState): string[] {
  return state.messages.entries.map((entry) => entry.kind);
}

test("a rejoin marks what may have been missed", () => {
  expect(kinds(after(entered, opened, joined, said, closed, opened, joined, said))).toEqual([
    "message",
    "gap",
    "message",
  ]);
});

test("a return after a removal marks it too", () => {
  expect(kinds(after(entered, opened, joined, said, removed, entered, opened, joined))).toEqual(["message", "gap"]);
});

test("a new name keeps the talk, marks nothing and forgets who was here", () => {
  const listed = happened({ type: "people_listed", people: [{ key: "k1", name: "Ann" }] });
  const renamed = after(entered, opened, joined, listed, said, entered);
  expect(renamed.people).toEqual({ kind: "unknown" });
  expect(renamed.link).toEqual({ phase: "connecting" });
  expect(kinds([opened, joined].reduce(reduceLobby, renamed))).toEqual(["message"]);
});

test("a message stays in the outbox until it is delivered or given up", () => {
  const two = after(
    { type: "send_started", id: 0, body: "one" },
    { type: "send_started", id: 1, body: "two" },
    { type: "send_refused", id: 1, reason: "too long" },
  );
  expect(two.outbox).toEqual([
    { id: 0, body: "one", status: { kind: "sending" } },
    { id: 1, body: "two", status: { kind: "refused", reason: "too long" } },
  ]);
  const one = reduceLobby(two, { type: "send_delivered", id: 0 });
  expect(reduceLobby(one, { type: "send_discarded", id: 1 }).outbox).toEqual([]);
});
