import { expect, test } from "vitest";
import { sample } from "./message.sample";
import { Order } from "./order";

function take(order: Order, ...places: number[]): number[] {
  return places.flatMap((seq) => order.take(sample(seq)).map((each) => each.seq));
}

test("messages go on in the order of their places, each once", () => {
  const order = new Order();
  order.startAfter(4);
  expect(take(order, 5, 5, 4, 6)).toEqual([5, 6]);
  expect(order.last).toBe(6);
});

test("what jumps ahead waits until the places between are there", () => {
  const order = new Order();
  expect(take(order, 3, 2)).toEqual([]);
  expect(order.hasHole).toBe(true);
  expect(take(order, 1)).toEqual([1, 2, 3]);
  expect(order.hasHole).toBe(false);
});

test("what waits may be edited meanwhile", () => {
  const order = new Order();
  take(order, 2);
  const edited = sample(2, { text: "edited", revision: 3 });
  expect(order.take(sample(1), edited, sample(2)).map(({ text }) => text)).toEqual(["1", "edited"]);
});

test("a page that takes the place of everything ends the waiting", () => {
  const order = new Order();
  take(order, 7);
  order.startAfter(9);
  expect(order.hasHole).toBe(false);
  expect(take(order, 8, 10)).toEqual([10]);
});

test("nobody waits for what is not kept any more", () => {
  const order = new Order();
  expect(take(order, 3, 6, 7)).toEqual([]);
  expect(order.skipTo(6).map(({ seq }) => seq)).toEqual([6, 7]);
  expect(order.hasHole).toBe(false);
  expect(order.skipTo(2)).toEqual([]);
  expect(order.last).toBe(7);
});
