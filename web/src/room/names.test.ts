import { expect, test } from "vitest";
import { nameOf, noNames, reduceNames } from "./names";

test("the newest name holds", () => {
  const named = (name: string) => ({ type: "named", person: "ann", name, guest: true }) as const;
  const names = [named("Ann"), named("Anna")].reduce(reduceNames, noNames);
  expect(nameOf(names, "ann")).toBe("Anna");
  expect(names.get("ann")?.guest).toBe(true);
});

test("who is not known yet has a place, and who has no profile a word", () => {
  expect(nameOf(noNames, "bob")).toBe("…");
  expect(nameOf(noNames, "~erased")).toBe("Somebody who left");
});
