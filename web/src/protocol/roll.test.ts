import { expect, test } from "vitest";
import { Roll } from "./roll";

test("who is told of for another reason than the room is not in the room", () => {
  const roll = new Roll();
  roll.befriend(["bob", "cat"]);
  roll.meet("cat");
  expect(["bob", "cat", "dan"].filter((person) => roll.has(person))).toEqual(["cat", "dan"]);
  roll.dismiss("cat");
  expect(roll.has("cat")).toBe(false);
});
