import { expect, test } from "vitest";
import { checkName, NAME_LENGTH_MAX } from "./name";

test.each([
  ["Ann", "Ann"],
  ["  Ann \t Lee\n", "Ann Lee"],
  ["A\u0000nn", "A nn"],
  ["Zoe\u0308", "Zoë"],
  ["<b>x</b>", "<b>x</b>"],
  ["👋".repeat(NAME_LENGTH_MAX), "👋".repeat(NAME_LENGTH_MAX)],
])("%j is sent as %j", (typed, name) => {
  expect(checkName(typed)).toEqual({ ok: true, name });
});

test.each(["", "   ", "\u0007", "x".repeat(NAME_LENGTH_MAX + 1)])("%j is refused", (typed) => {
  expect(checkName(typed).ok).toBe(false);
});
