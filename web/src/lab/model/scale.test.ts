import { expect, test } from "vitest";
import { binary, clockTicks, linear, logarithmic } from "./scale";

test.each([
  [0, [0, 0.5, 1]],
  [7, [0, 2, 4, 6, 8]],
  [20_000, [0, 5_000, 10_000, 15_000, 20_000]],
  [18_000, [0, 5_000, 10_000, 15_000, 20_000]],
])("a linear axis up to %d is written at %j", (max, ticks) => {
  expect(linear(max).ticks).toEqual(ticks);
});

test("the greatest value stands within every axis", () => {
  for (const max of [0.003, 1, 9, 11, 101, 999_999]) {
    expect(linear(max).ticks.at(-1)).toBeGreaterThanOrEqual(max * (1 - 1e-9));
    expect(binary(max).ticks.at(-1)).toBeGreaterThanOrEqual(max);
    expect(logarithmic(max / 50, max).ticks.at(-1)).toBeGreaterThanOrEqual(max * (1 - 1e-9));
    expect(linear(max).ticks.length).toBeLessThanOrEqual(6);
    expect(binary(max).ticks.length).toBeLessThanOrEqual(6);
  }
});

test("a logarithmic axis goes from power to power", () => {
  const scale = logarithmic(1_200, 41_000);
  expect(scale.ticks).toEqual([1_000, 10_000, 100_000]);
  expect(scale.at(10_000)).toBeCloseTo(0.5);
  expect(scale.at(0)).toBe(0);
  expect(logarithmic(0, 0).ticks).toEqual([1, 10]);
});

test.each([
  [0, 60, 6, [0, 10, 20, 30, 40, 50, 60]],
  [65, 300, 4, [120, 180, 240, 300]],
  [5, 5, 4, [5]],
])("from %d to %d s at most about %d times are written", (from, to, most, ticks) => {
  expect(clockTicks(from, to, most)).toEqual(ticks);
});
