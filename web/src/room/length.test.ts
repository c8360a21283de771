import { expect, test } from "vitest";
import { TEXT_BYTES_MAX, tooMany } from "./length";

test.each([
  ["", 0],
  ["a".repeat(TEXT_BYTES_MAX), 0],
  ["a".repeat(TEXT_BYTES_MAX + 3), 3],
  ["é".repeat(TEXT_BYTES_MAX / 2 + 1), 1],
  ["字".repeat(TEXT_BYTES_MAX / 2), TEXT_BYTES_MAX / 2 - Math.floor(TEXT_BYTES_MAX / 3)],
  ["👋".repeat(TEXT_BYTES_MAX / 4 + 2), 2],
])("characters that are too many, case %#", (text, over) => {
  expect(tooMany(text)).toBe(over);
});

test("bytes are counted as they are sent", () => {
  for (const text of ["a", "é", "字", "👋"]) {
    const bytes = new TextEncoder().encode(text).length;
    const fitting = text.repeat(Math.floor(TEXT_BYTES_MAX / bytes));
    expect([tooMany(fitting), tooMany(fitting + text)]).toEqual([0, 1]);
  }
});
