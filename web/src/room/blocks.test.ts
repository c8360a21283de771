import { expect, test } from "vitest";
import type { BlockChange } from "../protocol/block-news";
import { noBlocks, reduceBlocks, type Blocks } from "./blocks";

function after(...changes: BlockChange[]): Blocks {
  return changes.reduce((blocks, change) => reduceBlocks(blocks, { type: "blocks_changed", change }), noBlocks);
}

test("a list takes the place of what was known, and changes follow it", () => {
  const bob: BlockChange = { kind: "set", person: "bob", on: true };
  const listed: BlockChange = { kind: "listed", people: ["cat", "dan"] };
  expect([...after(bob, listed)]).toEqual(["cat", "dan"]);
  expect([...after(listed, bob, { kind: "set", person: "cat", on: false })]).toEqual(["dan", "bob"]);
});

test("what is so already changes nothing", () => {
  const blocks = after({ kind: "listed", people: ["bob"] });
  expect(reduceBlocks(blocks, { type: "blocks_changed", change: { kind: "set", person: "bob", on: true } })).toBe(blocks);
  expect(reduceBlocks(blocks, { type: "removed" })).toBe(blocks);
});
