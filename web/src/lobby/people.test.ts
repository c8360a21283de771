import { expect, test } from "vitest";
import type { LobbyEvent } from "../protocol/events";
import { headcount, nobodyYet, reducePeople, type People } from "./people";

const ann = { key: "k1", name: "Ann" };
const bob = { key: "k2", name: "Bob" };

function after(...events: LobbyEvent[]): People {
  return events.reduce(reducePeople, nobodyYet);
}

test("people are listed by name, and by key where names are equal", () => {
  const otherAnn = { key: "k0", name: "Ann" };
  const people = after({ type: "people_listed", people: [bob, ann, otherAnn] });
  expect(people).toEqual({ kind: "listed", people: [otherAnn, ann, bob] });
});

test("a change replaces the list", () => {
  const people = after({ type: "people_listed", people: [ann, bob] }, { type: "people_changed", people: [bob] });
  expect(people).toEqual({ kind: "listed", people: [bob] });
});

test("a crowd is a number, which a change does not turn back into a list", () => {
  const people = after(
    { type: "people_listed", people: [ann] },
    { type: "people_counted", count: 501 },
    { type: "people_changed", people: [ann, bob] },
  );
  expect(people).toEqual({ kind: "counted", count: 501 });
});

test("a full list ends the counting", () => {
  const people = after({ type: "people_counted", count: 501 }, { type: "people_listed", people: [ann] });
  expect(people).toEqual({ kind: "listed", people: [ann] });
});

test("a lost connection keeps what was known last", () => {
  const people = after({ type: "people_listed", people: [ann] }, { type: "closed" });
  expect(people).toEqual({ kind: "listed", people: [ann] });
});

test("the headcount is unknown until the server says something", () => {
  expect(headcount(nobodyYet)).toBeUndefined();
  expect(headcount(after({ type: "people_listed", people: [ann, bob] }))).toBe(2);
  expect(headcount(after({ type: "people_counted", count: 12_000 }))).toBe(12_000);
});
