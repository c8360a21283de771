import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import type { Role } from "../protocol/person";
import { sample } from "../protocol/message.sample";
import { mayDelete, mayEdit, noStanding, reduceStanding, type Standing } from "./standing";

function joined(here: Role | undefined, everywhere: Role | undefined): RoomEvent {
  const me = { person: "ann", name: "Ann", guest: here === "guest", role: everywhere };
  return { type: "joined", me, member: here === undefined ? undefined : { role: here, read: 0 } };
}

function after(...events: RoomEvent[]): Standing {
  return events.reduce(reduceStanding, noStanding);
}

const own = sample(1);
const others = sample(2, { sender: "bob" });
const deleted = sample(3, { deleted: { moderated: false } });

test.each<[string, Standing, [boolean, boolean, boolean]]>([
  ["a guest", after(joined("guest", undefined)), [true, true, false]],
  ["a member", after(joined("member", undefined)), [true, true, false]],
  ["a moderator of the room", after(joined("moderator", undefined)), [true, true, true]],
  ["a moderator of the community", after(joined("member", "moderator")), [true, true, true]],
  ["a moderator who is not in the room", after(joined(undefined, "moderator")), [true, true, true]],
  ["who is made one", after(joined("member", undefined), { type: "role_given", role: "owner" }), [true, true, true]],
  ["who only looks", after(joined(undefined, undefined)), [false, true, false]],
])("%s edits and deletes their own, and deletes others' as the role lets them", (_, standing, [edit, drop, moderate]) => {
  expect(mayEdit(standing, "ann", own)).toBe(edit);
  expect(mayEdit(standing, "ann", others)).toBe(false);
  expect(mayDelete(standing, "ann", own)).toBe(drop);
  expect(mayDelete(standing, "ann", others)).toBe(moderate);
  expect(mayDelete(standing, "ann", deleted) || mayEdit(standing, "ann", deleted)).toBe(false);
});

test("a mute is known until it is lifted", () => {
  const muted = after(joined("member", undefined), { type: "muted", on: true, until: 9 });
  expect(muted.muted).toEqual({ until: 9 });
  expect(reduceStanding(muted, { type: "muted", on: false, until: undefined }).muted).toBeUndefined();
});
