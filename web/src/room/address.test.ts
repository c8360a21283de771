import { expect, test } from "vitest";
import { roomAt } from "./address";

test.each(["/c/default/r/lobby", "/c/default/r/lobby/"])("%s is a room", (path) => {
  expect(roomAt(path)).toEqual({ community: "default", room: "lobby" });
});

test.each(["/", "/c/default", "/c/Default/r/lobby", "/c/a/r/", "/c/a/r/b/c", `/c/${"x".repeat(41)}/r/y`])(
  "%s is none",
  (path) => {
    expect(roomAt(path)).toBeUndefined();
  },
);
