import { expect, test } from "vitest";
import { parseJoined, parsePage } from "./joined";
import { conversation, junk, lobby, sample, written } from "./message.sample";

const response = {
  me: { id: "guest:1", profile: { name: "Ann", guest: true, role: null }, token: "eyJ" },
  epoch: "9f",
  conversation: conversation(1, 3, 7),
  member: { role: "guest", read: 2 },
  messages: [written(3), ...junk],
  more: true,
  recovered: null,
  changed: [],
  presence: { count: 1, people: [{ person: "guest:1", status: "online" }] },
};

test("the answer to a join says who one is, what was said and who is here", () => {
  expect(parseJoined(response)).toEqual({
    me: { person: "guest:1", name: "Ann", guest: true, role: undefined },
    token: "eyJ",
    epoch: "9f",
    conversation: lobby({ last: 3, revision: 7 }),
    member: { role: "guest", read: 2 },
    messages: [sample(3)],
    more: true,
    recovered: false,
    reason: undefined,
    changed: [],
    count: 1,
    people: [{ person: "guest:1", status: "online" }],
  });
  for (const each of [...junk, { ...response, me: {} }, { ...response, epoch: 1 }, { ...response, conversation: null }]) {
    expect(parseJoined(each)).toBeUndefined();
  }
});

test("a crowd has no list, and who only looks is no member", () => {
  const looking = { ...response, presence: null, member: null };
  expect(parseJoined(looking)).toMatchObject({ people: undefined, member: undefined, count: 0 });
});

test("what is no message is left out of a page, and a page says of which conversation it is", () => {
  const page = { messages: [written(3), ...junk], more: true, conversation: conversation(1, 9) };
  expect(parsePage(page)).toMatchObject({ messages: [{ seq: 3 }], more: true, conversation: { first: 1, last: 9 } });
  for (const each of junk) expect(parsePage(each)).toBeUndefined();
});
