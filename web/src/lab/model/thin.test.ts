import { expect, test } from "vitest";
import { thin, type Point } from "./thin";

const points: Point[] = [3, 1, undefined, 8, undefined, undefined, 2].map((value, second) => ({ second, value }));

test("few points stay as they are", () => {
  expect(thin(points, 7, "mean")).toEqual(points);
});

test("many points keep their mean or their greatest, and gaps stay gaps", () => {
  expect(thin(points, 4, "mean").map(({ value }) => value)).toEqual([2, 8, undefined, 2]);
  expect(thin(points, 4, "max").map(({ value }) => value)).toEqual([3, 8, undefined, 2]);
  expect(thin(points, 4, "max").map(({ second }) => second)).toEqual([1, 3, 5, 6]);
});
