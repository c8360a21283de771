import { expect, test } from "vitest";
import { Order } from "./order";
import type { Message } from "./wire";

function message(seq: number): Message {
  return { seq, sender: "ann", text: `${seq}`, at: seq, edited: false, deleted: false, reactions: [] };
}

function take(order: Order, ...places: number[]): number[] {
  return places.flatMap((seq) => order.take(message(seq)).map((each) => each.seq));
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

test("a page that takes the place of everything ends the waiting", () => {
  const order = new Order();
  take(order, 7);
  order.startAfter(9);
  expect(order.hasHole).toBe(false);
  expect(take(order, 8, 10)).toEqual([10]);
});
