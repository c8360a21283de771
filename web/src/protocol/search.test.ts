import { expect, test } from "vitest";
import { junk, sample, written } from "./message.sample";
import { parseFound, searchFor } from "./search";

test("what is found says where it stands, and where the next page begins", () => {
  const found = { messages: [written(7, { id: "m7", conversation: "c" }), written(3)], next: "m7" };
  expect(parseFound(found)).toEqual({ hits: [{ id: "m7", conversation: "c", message: sample(7) }], next: "m7" });
  expect(parseFound({ messages: [], next: null })).toEqual({ hits: [], next: undefined });
  for (const each of junk) expect(parseFound(each)).toEqual({ hits: [], next: undefined });
});

test("a question names only what it is about", () => {
  expect(searchFor({ query: "hi", within: undefined, before: undefined })).toEqual({ query: "hi", limit: 20 });
  expect(searchFor({ query: "hi", within: "c", before: "m" })).toEqual({ query: "hi", limit: 20, conversation: "c", before: "m" });
});
