import { expect, test } from "vitest";
import { parseBlock } from "./block-news";
import { junk } from "./message.sample";

test("a block says whom, and whether", () => {
  expect(parseBlock({ person: "bob", on: true })).toEqual({ person: "bob", on: true });
  for (const each of [...junk, { person: "bob" }, { on: true }]) expect(parseBlock(each)).toBeUndefined();
});
