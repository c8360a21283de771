import { expect, test } from "vitest";
import { hasToken, splitFragment } from "./fragment";

test.each([
  ["#token=a.b-_.c", { token: "a.b-_.c", rest: "" }],
  ["#x=1&token=a.b.c&y", { token: "a.b.c", rest: "#x=1&y" }],
  ["#token=", { token: undefined, rest: "" }],
  ["#token=a.b", { token: undefined, rest: "" }],
  ["#token=<b>.b.c", { token: undefined, rest: "" }],
  [`#token=${"a".repeat(9000)}.b.c`, { token: undefined, rest: "" }],
  ["#mytoken=a.b.c", { token: undefined, rest: "#mytoken=a.b.c" }],
  ["#", { token: undefined, rest: "" }],
  ["", { token: undefined, rest: "" }],
])("%s", (hash, fragment) => {
  expect(splitFragment(hash)).toEqual(fragment);
});

test("what looks like a token does not stay in the address, good or not", () => {
  expect(hasToken("#token=nonsense")).toBe(true);
  expect(hasToken("#message-7")).toBe(false);
  expect(hasToken("")).toBe(false);
});
