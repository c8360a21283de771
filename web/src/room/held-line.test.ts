import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HeldLine } from "./held-line";

const NOW = 1_000_000;
const draft = (id: string) => ({ id, text: `text of ${id}`, replyTo: undefined });
const [a, b, c] = [draft("a"), draft("b"), draft("c")];

let gone: string[];
let held: [string, number][];
let line: HeldLine;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  gone = [];
  held = [];
  line = new HeldLine({ go: ({ id }) => gone.push(id), held: (id, until) => held.push([id, until - NOW]) });
});

afterEach(() => { vi.useRealTimers(); });

test("what was written later waits for what came too soon, however short its own wait is", () => {
  expect(line.joinBehind(a)).toBe(false);
  line.hold(a, 300);
  line.hold(b, 200);
  expect(line.joinBehind(c)).toBe(true);
  expect(held).toEqual([["a", 300], ["b", 300], ["c", 300]]);
  vi.advanceTimersByTime(299);
  expect(gone).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(gone).toEqual(["a"]);
  line.leave("a");
  line.leave("b");
  expect(gone).toEqual(["a", "b", "c"]);
});

test("the first is held again in its place, and those behind it learn until when", () => {
  line.hold(a, 300);
  line.hold(b, 300);
  vi.advanceTimersByTime(300);
  held = [];
  expect(line.joinBehind(a)).toBe(false);
  line.hold(a, 100);
  expect(held).toEqual([["a", 400], ["b", 400]]);
  vi.advanceTimersByTime(100);
  expect(gone).toEqual(["a", "a"]);
});

test("what is given up in the line lets the next one go only where it was the first", () => {
  line.hold(a, 300);
  line.hold(b, 300);
  line.hold(c, 300);
  line.leave("b");
  expect(gone).toEqual([]);
  line.leave("a");
  expect(gone).toEqual(["c"]);
  vi.advanceTimersByTime(1000);
  expect(gone).toEqual(["c"]);
});

test("a line that is disbanded sends nothing, and keeps nobody", () => {
  line.hold(a, 300);
  line.hold(b, 300);
  expect(line.disband()).toEqual([a, b]);
  vi.advanceTimersByTime(1000);
  expect(gone).toEqual([]);
  expect(line.joinBehind(b)).toBe(false);
});
