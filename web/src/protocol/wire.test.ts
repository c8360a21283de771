import { expect, test } from "vitest";
import {
  parseFault,
  parseHead,
  parseJoined,
  parseMessage,
  parsePage,
  parsePresence,
  parseProfile,
  parseReactions,
} from "./wire";

const junk = [undefined, null, 7, "text", [], {}, new ArrayBuffer(2)];

const written = {
  seq: 3,
  id: "01J",
  sender: "ann",
  at: 17,
  text: "hi",
  edited: null,
  deleted: null,
  reactions: [{ emoji: "x", count: 2 }, { emoji: 7 }, null],
};

test("a message has a place, a sender, a text and a time", () => {
  expect(parseMessage(written)).toEqual({
    seq: 3,
    sender: "ann",
    text: "hi",
    at: 17,
    edited: false,
    deleted: false,
    reactions: [{ emoji: "x", count: 2 }],
  });
  expect(parseMessage({ ...written, edited: 18, deleted: { at: 19 } })).toMatchObject({ edited: true, deleted: true });
  for (const payload of [...junk, { ...written, seq: 0 }, { ...written, seq: 1.5 }, { ...written, text: 7 }]) {
    expect(parseMessage(payload)).toBeUndefined();
  }
});

test("what is no message is left out of a page", () => {
  expect(parsePage({ messages: [written, ...junk], more: true })).toMatchObject({ messages: [{ seq: 3 }], more: true });
  for (const response of junk) expect(parsePage(response)).toEqual({ messages: [], more: false });
});

test("a presence has a status that is known", () => {
  expect(parsePresence({ person: "ann", status: "busy" })).toEqual({ person: "ann", status: "busy" });
  for (const payload of [...junk, { person: "ann", status: "asleep" }]) expect(parsePresence(payload)).toBeUndefined();
});

test("a profile has a name", () => {
  const payload = { person: "ann", profile: { name: "Ann", guest: true } };
  expect(parseProfile(payload)).toEqual({ person: "ann", name: "Ann", guest: true });
  for (const each of [...junk, { person: "ann", profile: {} }]) expect(parseProfile(each)).toBeUndefined();
});

test("reactions and heads name a place", () => {
  expect(parseReactions({ seq: 4, reactions: [] })).toEqual({ seq: 4, reactions: [] });
  expect(parseHead({ conversation: "01J", seq: 9 })).toBe(9);
  for (const payload of junk) {
    expect(parseReactions(payload)).toBeUndefined();
    expect(parseHead(payload)).toBeUndefined();
  }
});

test("the answer to a join says who one is, what was said and who is here", () => {
  const response = {
    me: { id: "guest:1", profile: { name: "Ann", guest: true }, token: "eyJ" },
    epoch: "9f",
    conversation: { title: "Lobby", revision: 7 },
    messages: [written],
    more: true,
    recovered: null,
    changed: [],
    presence: { count: 1, people: [{ person: "guest:1", status: "online" }] },
  };
  expect(parseJoined(response)).toMatchObject({
    me: { person: "guest:1", name: "Ann", guest: true },
    token: "eyJ",
    title: "Lobby",
    revision: 7,
    recovered: false,
    count: 1,
    people: [{ person: "guest:1", status: "online" }],
  });
  expect(parseJoined({ ...response, presence: { count: 501, people: null } })?.people).toBeUndefined();
  for (const each of [...junk, { ...response, me: {} }, { ...response, epoch: 1 }]) {
    expect(parseJoined(each)).toBeUndefined();
  }
});

test("a fault without a word says so", () => {
  expect(parseFault({ code: "muted", message: "muted" })).toEqual({ code: "muted", message: "muted" });
  for (const response of junk) expect(parseFault(response)).toEqual({ code: "unknown", message: "no reason given" });
});
