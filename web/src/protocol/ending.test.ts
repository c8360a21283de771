import { expect, test } from "vitest";
import { endingOf } from "./ending";
import { junk } from "./message.sample";

test("a close says why, where the server gave a code that says something", () => {
  expect([1012, 1013, 4401, 4403, 1006].map((code) => endingOf({ code }))).toEqual([
    "restart",
    "slow",
    "signed_out",
    "signed_out",
    undefined,
  ]);
  for (const each of junk) expect(endingOf(each)).toBeUndefined();
});
