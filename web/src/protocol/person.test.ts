import { expect, test } from "vitest";
import { junk } from "./message.sample";
import { higher, isAbove, parsePresence, parseProfile, parseRoleChange, parseTyping } from "./person";

test("a presence has a status that is known", () => {
  expect(parsePresence({ person: "ann", status: "busy" })).toEqual({ person: "ann", status: "busy" });
  for (const payload of [...junk, { person: "ann", status: "asleep" }]) expect(parsePresence(payload)).toBeUndefined();
});

test("a profile has a name", () => {
  const payload = { person: "ann", profile: { name: "Ann", guest: true, role: null } };
  expect(parseProfile(payload)).toEqual({ person: "ann", name: "Ann", guest: true, role: undefined });
  expect(parseProfile({ person: "mod", profile: { name: "Mod", role: "moderator" } })?.role).toBe("moderator");
  for (const each of [...junk, { person: "ann", profile: {} }]) expect(parseProfile(each)).toBeUndefined();
});

test("a role is one that is known, typing is on or off", () => {
  expect(parseRoleChange({ person: "ann", role: "owner" })).toEqual({ person: "ann", role: "owner" });
  expect(parseTyping({ person: "ann", on: false })).toEqual({ person: "ann", on: false });
  for (const payload of [...junk, { person: "ann", role: "king" }, { person: "ann", on: 1 }]) {
    expect(parseRoleChange(payload)).toBeUndefined();
    expect(parseTyping(payload)).toBeUndefined();
  }
});

test("roles have an order, and none is below all", () => {
  expect(higher("member", "moderator")).toBe("moderator");
  expect(higher("guest", undefined)).toBe("guest");
  expect(isAbove("owner", "moderator")).toBe(true);
  expect(isAbove("member", "member")).toBe(false);
  expect(isAbove(undefined, "guest")).toBe(false);
});
