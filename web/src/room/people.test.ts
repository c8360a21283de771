import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import type { Presence, Status } from "../protocol/person";
import { headcount, nobodyYet, reducePeople, type People } from "./people";

const ann: Presence = { person: "ann", status: "online" };
const bob: Presence = { person: "bob", status: "away" };

function after(...events: RoomEvent[]): People {
  return events.reduce(reducePeople, nobodyYet);
}

function changed(person: string, status: Status): RoomEvent {
  return { type: "person_changed", presence: { person, status } };
}

test("who comes is listed, who goes is not, and a status changes in place", () => {
  const people = after({ type: "people_listed", people: [ann, bob] }, changed("cat", "online"), changed("ann", "offline"), changed("bob", "busy"));
  expect(people).toEqual({ kind: "listed", people: new Map([["bob", "busy"], ["cat", "online"]]) });
});

test("a crowd is a number, which a change does not turn back into a list", () => {
  const people = after({ type: "people_listed", people: [ann] }, { type: "people_counted", count: 501 }, changed("bob", "online"));
  expect(people).toEqual({ kind: "counted", count: 501 });
});

test("a full list ends the counting", () => {
  const people = after({ type: "people_counted", count: 501 }, { type: "people_listed", people: [ann] });
  expect(headcount(people)).toBe(1);
});

test("a lost connection keeps what was known last", () => {
  expect(headcount(after({ type: "people_listed", people: [ann] }, { type: "closed", why: undefined }))).toBe(1);
});

test("the headcount is unknown until the server says something", () => {
  expect(headcount(nobodyYet)).toBeUndefined();
  expect(headcount(after({ type: "people_counted", count: 12_000 }))).toBe(12_000);
});
