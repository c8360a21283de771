import { expect, test } from "vitest";
import { merge, ROWS_MAX } from "./merge";
import { parseRows } from "./wire";

const rows = (...seconds: number[]): ReturnType<typeof parseRows> => parseRows(seconds.map((second) => ({ second })));

test("a second that comes again replaces what was known of it", () => {
  expect(merge(rows(0, 1, 2), rows(2, 3)).map(({ second }) => second)).toEqual([0, 1, 2, 3]);
  expect(merge(rows(0, 1), [])).toEqual(rows(0, 1));
});

test("another run on the same port begins anew", () => {
  expect(merge(rows(50, 51), rows(0, 1)).map(({ second }) => second)).toEqual([0, 1]);
});

test("the oldest rows are forgotten", () => {
  const many = rows(...Array(ROWS_MAX + 5).keys());
  expect(merge([], many)[0]?.second).toBe(5);
});
