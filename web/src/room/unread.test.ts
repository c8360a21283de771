import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import { lobby, sample, samples } from "../protocol/message.sample";
import { firstNew, nothingRead, reduceLook, reduceUnread, unreadCount, type Unread } from "./unread";

const me = { person: "ann", name: "Ann", guest: true, role: undefined };

function joined(read: number | undefined): RoomEvent {
  return { type: "joined", me, member: read === undefined ? undefined : { role: "guest", read } };
}

function page(last: number): RoomEvent {
  return { type: "page", messages: samples(1, last), first: 1, last, lost: undefined };
}

function after(...events: RoomEvent[]): Unread {
  return events.reduce((unread, event) => reduceUnread(unread, event, "ann"), nothingRead);
}

const byBob = (seq: number) => sample(seq, { sender: "bob" });

test("who comes back finds the line above what is new", () => {
  const unread = after(joined(3), page(5));
  expect(unreadCount(unread, 5)).toBe(2);
  expect(firstNew(unread, [3, 4, 5].map(byBob), "ann")).toBe(4);
  const read = reduceLook(unread, { type: "seen", seq: 5 });
  expect(unreadCount(read, 5)).toBe(0);
  expect(firstNew(read, [3, 4, 5].map(byBob), "ann")).toBe(4);
});

test("what is seen as it comes is not new", () => {
  const unread = after(joined(5), page(5));
  expect(firstNew(unread, [5, 6].map(byBob), "ann")).toBeUndefined();
});

test("what comes while the page is hidden is new, and what one says oneself is not", () => {
  const away = reduceLook(after(joined(5), page(5)), { type: "looked_away" });
  const back = reduceLook(away, { type: "looked_back", newest: 7 });
  expect(firstNew(back, [byBob(5), sample(6), byBob(7)], "ann")).toBe(7);
  const quiet = reduceLook(away, { type: "looked_back", newest: 5 });
  expect(firstNew(quiet, [5, 6].map(byBob), "ann")).toBeUndefined();
});

test("what came while the connection was gone is new, and where nothing came nothing is", () => {
  const gone: RoomEvent = { type: "closed", why: undefined };
  const described = (last: number): RoomEvent => ({ type: "described", conversation: lobby({ last }) });
  const missed = after(joined(5), page(5), gone, joined(5), described(6), { type: "said", message: byBob(6) });
  expect(firstNew(missed, [5, 6].map(byBob), "ann")).toBe(6);
  const quiet = after(joined(5), page(5), gone, joined(5), described(5), { type: "said", message: byBob(6) });
  expect(firstNew(quiet, [5, 6].map(byBob), "ann")).toBeUndefined();
});

test("who says something has caught up", () => {
  const unread = reduceUnread(after(joined(3), page(5)), { type: "said", message: sample(6) }, "ann");
  expect(unreadCount(unread, 6)).toBe(0);
  expect(firstNew(unread, [4, 5].map(byBob), "ann")).toBeUndefined();
});

test("reading goes forward only, on whatever device", () => {
  const unread = after(joined(3), { type: "read", seq: 5 }, { type: "read", seq: 4 }, joined(2));
  expect(unread.read).toBe(5);
});

test("where what is new begins further up, no line is drawn below that", () => {
  expect(firstNew(after(joined(3), page(9)), [8, 9].map(byBob), "ann")).toBeUndefined();
});

test("who is no member has nothing unread", () => {
  const unread = reduceLook(after(joined(undefined), page(5)), { type: "seen", seq: 2 });
  expect(unreadCount(unread, 5)).toBe(0);
});
