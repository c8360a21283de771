import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Typists } from "./typists";

let told: string[] = [];
const typists = (): Typists => new Typists((person, on) => told.push(`${person} ${on ? "types" : "stops"}`));

beforeEach(() => {
  told = [];
  vi.useFakeTimers();
});
afterEach(() => { vi.useRealTimers(); });

test("what is said again is told once, and its end once", () => {
  const each = typists();
  for (const on of [true, true, false, false]) each.heard("ann", on);
  expect(told).toEqual(["ann types", "ann stops"]);
});

test("who falls silent has stopped", () => {
  const each = typists();
  each.heard("ann", true);
  vi.advanceTimersByTime(4000);
  each.heard("ann", true);
  vi.advanceTimersByTime(4000);
  expect(told).toEqual(["ann types"]);
  vi.advanceTimersByTime(4000);
  expect(told).toEqual(["ann types", "ann stops"]);
});

test("a crowd that types is not followed to the last", () => {
  const each = typists();
  for (let n = 0; n < 60; n += 1) each.heard(`person ${n}`, true);
  expect(told).toHaveLength(50);
  each.forget();
  expect(told).toHaveLength(100);
});
