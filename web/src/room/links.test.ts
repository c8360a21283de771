import { expect, test } from "vitest";
import { piecesOf } from "./links";

test.each([
  ["see https://a.example/b?c=d#e now", ["https://a.example/b?c=d#e"]],
  ["https://a.example.", ["https://a.example"]],
  ["(https://a.example/x)", ["https://a.example/x"]],
  ["https://a.example/wiki/X_(y)", ["https://a.example/wiki/X_(y)"]],
  ["**https://a.example**", ["https://a.example"]],
  ["HTTPS://A.EXAMPLE and http://b.example!", ["HTTPS://A.EXAMPLE", "http://b.example"]],
  ["https://ä.example/ü", ["https://ä.example/ü"]],
  ['<a href="https://a.example">', ["https://a.example"]],
  ["javascript:alert(1) ftp://a.example data:x", []],
  ["https:// https://.", []],
  ["", []],
])("%s", (text, addresses) => {
  const pieces = piecesOf(text);
  expect(pieces.flatMap(({ href }) => href ?? [])).toEqual(addresses);
  expect(pieces.map((piece) => piece.text).join("")).toBe(text);
});
