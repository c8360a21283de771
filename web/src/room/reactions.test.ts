import { expect, test } from "vitest";
import type { Tally } from "../protocol/message";
import { isMine, retally } from "./reactions";

const tally = (emoji: string, count: number, mine = false): Tally => ({ emoji, count, mine });

test("one's own reactions stay one's own when others react", () => {
  const before = [tally("a", 1, true), tally("b", 1)];
  expect(retally(before, [tally("a", 1), tally("b", 2)], "b", undefined)).toEqual([tally("a", 1, true), tally("b", 2)]);
});

test("one's own reaction is what was done last", () => {
  expect(retally([], [tally("a", 1)], "a", true)).toEqual([tally("a", 1, true)]);
  expect(retally([tally("a", 2, true)], [tally("a", 1)], "a", false)).toEqual([tally("a", 1)]);
  expect(isMine(retally([tally("a", 2, true)], [tally("a", 2), tally("b", 1)], "b", true), "a")).toBe(true);
});

test("what nobody gives any more is gone", () => {
  expect(retally([tally("a", 1, true)], [], "a", false)).toEqual([]);
});
