import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import { parseFault } from "../protocol/fault";
import { lobby, sample } from "../protocol/message.sample";
import type { Tab, TabChange } from "../protocol/tab";
import { archivedOf, linesOf, noTabs, reduceTabs, titleOf, unreadBeside, waitingIn, type Tabs } from "./tabs";

function line(id: string, more: Partial<Tab> = {}): Tab {
  const conversation = lobby({ id, kind: "direct", pair: ["ann", id], active: 1, last: 1 });
  return { conversation, last: sample(1), read: 1, unread: 0, mentions: 0, muted: false, archived: false, ...more };
}

function after(...changes: TabChange[]): Tabs {
  const events = changes.map((change): RoomEvent => ({ type: "tabs_changed", change }));
  return events.reduce(reduceTabs, noTabs);
}

const listed = (...tabs: Tab[]): TabChange => ({ kind: "listed", tabs, next: undefined });
const said = (conversation: string, seq: number, mine = false): TabChange => ({
  kind: "said",
  conversation,
  message: sample(seq, { at: 10 + seq }),
  mine,
  forMe: !mine,
});
const ids = (tabs: Tabs) => linesOf(tabs).map(({ conversation }) => conversation.id);

test("the line where something was said last is the first", () => {
  const tabs = after(listed(line("bob"), line("cat")), said("cat", 2));
  expect(ids(tabs)).toEqual(["cat", "bob"]);
  expect(tabs.lines.get("cat")).toMatchObject({ unread: 1, mentions: 1, last: { seq: 2 } });
});

test("what is told twice counts once, and who says something has read", () => {
  const told = after(listed(line("bob")), said("bob", 2), said("bob", 2), said("bob", 3));
  expect(unreadBeside(told, undefined)).toBe(2);
  const answered = reduceTabs(told, { type: "tabs_changed", change: said("bob", 4, true) });
  expect(answered.lines.get("bob")).toMatchObject({ unread: 0, mentions: 0, read: 4 });
});

test("reading on any device empties a line, and goes forward only", () => {
  const read: TabChange = { kind: "read", conversation: "bob", read: 3, unread: 0 };
  const late: TabChange = { kind: "read", conversation: "bob", read: 2, unread: 1 };
  const tabs = after(listed(line("bob")), said("bob", 3), read, late);
  expect(tabs.lines.get("bob")).toMatchObject({ read: 3, unread: 0, mentions: 0 });
});

test("the line of a conversation that is gone goes with it", () => {
  const gone = (conversation: string): TabChange => ({ kind: "gone", conversation });
  const tabs = after(listed(line("bob", { unread: 2 }), line("cat")), gone("bob"), gone("dan"), said("bob", 3));
  expect(ids(tabs)).toEqual(["cat"]);
  expect(unreadBeside(tabs, undefined)).toBe(0);
});

test("only private conversations that are neither muted nor open are waited for", () => {
  const room = line("den", { conversation: lobby({ id: "den" }), unread: 5 });
  const tabs = after(listed(room, line("bob", { unread: 2 }), line("cat", { unread: 4, muted: true }), line("dan", { unread: 8 })));
  expect(unreadBeside(tabs, "dan")).toBe(2);
});

test("a line that was found further down stands in its place, and is there once when its page comes", () => {
  const old = { conversation: lobby({ id: "old", active: 0 }) };
  const found = after(listed(line("bob")), { kind: "found", tab: line("old", old) });
  expect(ids(found)).toEqual(["bob", "old"]);
  const more: TabChange = { kind: "continued", tabs: [line("cat"), line("old", old)], next: undefined };
  expect(ids(reduceTabs(found, { type: "tabs_changed", change: more }))).toEqual(["bob", "cat", "old"]);
});

test("what was put away comes back when something is said there", () => {
  const away = after(listed(line("bob"), line("cat")), { kind: "kept", conversation: "bob", muted: false, archived: true });
  expect(ids(away)).toEqual(["cat"]);
  expect(archivedOf(away).map(({ conversation }) => conversation.id)).toEqual(["bob"]);
  expect(ids(reduceTabs(away, { type: "tabs_changed", change: said("bob", 2) }))).toEqual(["bob", "cat"]);
});

test("what is muted counts only what names one, and comes back from the archive for nothing else", () => {
  const plain: TabChange = { kind: "said", conversation: "bob", message: sample(2), mine: false, forMe: false };
  const muted = after(listed(line("bob", { muted: true, archived: true })), plain);
  expect(muted.lines.get("bob")).toMatchObject({ unread: 1, mentions: 0 });
  expect([ids(muted), unreadBeside(muted, undefined)]).toEqual([[], 0]);
  const named = reduceTabs(muted, { type: "tabs_changed", change: said("bob", 3) });
  expect([ids(named), unreadBeside(named, undefined)]).toEqual([["bob"], 1]);
  expect(archivedOf(named)).toEqual([]);
  expect(waitingIn(line("bob", { muted: false, unread: 3, mentions: 1 }))).toBe(3);
});

test("an edit of what was said last changes the line, an older one does not", () => {
  const edited = (seq: number): TabChange => ({ kind: "edited", conversation: "bob", message: sample(seq, { text: "new", revision: 1 }) });
  expect(after(listed(line("bob")), edited(1)).lines.get("bob")?.last?.text).toBe("new");
  expect(after(listed(line("bob")), said("bob", 2), edited(1)).lines.get("bob")?.last?.text).toBe("2");
});

test("why there are no conversations is known until all friends are told of", () => {
  const fault = parseFault({ code: "too_many_devices", message: "too many" });
  const refused = reduceTabs(noTabs, { type: "own_refused", fault });
  expect(refused.refused).toBe(fault);
  expect(reduceTabs(refused, { type: "friends_seen", people: [], all: false }).refused).toBe(fault);
  expect(reduceTabs(refused, { type: "friends_seen", people: [], all: true }).refused).toBeUndefined();
});

test("a direct conversation is called like the other person, who is here or not", () => {
  const names = new Map([["bob", { name: "Bob", guest: false }]]);
  expect(titleOf(line("bob").conversation, names, "ann")).toBe("Bob");
  const here = reduceTabs(noTabs, { type: "friends_seen", people: [{ person: "bob", status: "away" }], all: false });
  expect(here.friends.get("bob")).toBe("away");
  const gone: RoomEvent = { type: "friends_seen", people: [{ person: "bob", status: "offline" }], all: false };
  expect(reduceTabs(here, gone).friends.size).toBe(0);
  expect(reduceTabs(here, { type: "friends_seen", people: [], all: true }).friends.size).toBe(0);
});
