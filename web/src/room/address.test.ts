import { expect, test } from "vitest";
import { messagePath, roomAt, splitPlace } from "./address";

test.each(["/c/default/r/lobby", "/c/default/r/lobby/"])("%s is a room", (path) => {
  expect(roomAt(path)).toEqual({ community: "default", room: "lobby" });
});

test.each(["/", "/c/default", "/c/Default/r/lobby", "/c/a/r/", "/c/a/r/b/c", `/c/${"x".repeat(41)}/r/y`])(
  "%s is none",
  (path) => {
    expect(roomAt(path)).toBeUndefined();
  },
);

test("a message of a room has an address, and its place is taken out of it", () => {
  const path = messagePath({ community: "club", room: "den" }, 42);
  expect(path).toBe("/c/club/r/den#at=42");
  expect(splitPlace("#at=42")).toEqual({ place: 42, rest: "" });
  expect(splitPlace("#token=a.b.c&at=7&x")).toEqual({ place: 7, rest: "#token=a.b.c&x" });
  for (const hash of ["#at=0", "#at=", "#at=1e9", "#at=-1"]) expect(splitPlace(hash)).toEqual({ place: undefined, rest: "" });
  expect(splitPlace("#that=7")).toEqual({ place: undefined, rest: "#that=7" });
  expect(splitPlace("")).toEqual({ place: undefined, rest: "" });
});
