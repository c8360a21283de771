import { expect, test } from "vitest";
import { NAMES_MAX, nameOf, noNames, reduceNames } from "./names";

const named = (person: string, name: string) =>
  ({ type: "named", profile: { person, name, guest: true, role: undefined } }) as const;

test("the newest name holds", () => {
  const names = [named("ann", "Ann"), named("ann", "Anna")].reduce(reduceNames, noNames);
  expect(nameOf(names, "ann")).toBe("Anna");
  expect(names.get("ann")?.guest).toBe(true);
  expect(reduceNames(names, named("ann", "Anna"))).toBe(names);
});

test("who is not known yet has a place, and who has no profile a word", () => {
  expect(nameOf(noNames, "bob")).toBe("…");
  expect(nameOf(noNames, "~erased")).toBe("Deleted account");
});

test("past so many, the name that was told longest ago goes", () => {
  const many = new Map(Array.from({ length: NAMES_MAX }, (_, at) => [`p${at}`, { name: "x", guest: true }]));
  const names = reduceNames(many, named("ann", "Ann"));
  expect(names.size).toBe(NAMES_MAX);
  expect(names.has("p0")).toBe(false);
  expect(nameOf(names, "ann")).toBe("Ann");
});
