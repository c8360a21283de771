import { expect, test } from "vitest";
import { parseCommunity } from "./community";

test("a community has a name, and a colour if it has chosen one", () => {
  const look = { color: "#336699", logo_url: null, locale: null };
  expect(parseCommunity({ name: "Acme", look })).toEqual({ name: "Acme", color: "#336699" });
  expect(parseCommunity({ name: "Acme", look: { ...look, color: null } })).toEqual({ name: "Acme", color: undefined });
});

test("what is no colour is none, and what is no community is dropped", () => {
  for (const color of ["red", "#fff", "#336699; --ground: red", "url(x)", 7]) {
    expect(parseCommunity({ name: "Acme", look: { color } })?.color).toBeUndefined();
  }
  expect(parseCommunity(undefined)).toBeUndefined();
  expect(parseCommunity({ look: {} })).toBeUndefined();
});
