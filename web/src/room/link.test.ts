import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import { noAnswer } from "../protocol/fault";
import { reduceLink, unlinked, type Link } from "./link";

const opened: RoomEvent = { type: "opened", transport: "websocket" };
const me = { person: "ann", name: "Ann", guest: true, role: undefined };
const joined: RoomEvent = { type: "joined", me, member: undefined };
const interrupted: RoomEvent = { type: "interrupted" };
const closed: RoomEvent = { type: "closed", why: undefined };
const online: Link = { phase: "online", transport: "websocket" };

test.each<[string, RoomEvent[], Link]>([
  ["nothing happened yet", [], { phase: "connecting" }],
  ["an open socket is not yet a place in the room", [opened], { phase: "joining", transport: "websocket" }],
  ["a join makes it one", [opened, joined], online],
  ["a channel that breaks is joined again", [opened, joined, interrupted, joined], online],
  ["a loss counts as the first failure", [opened, joined, interrupted, closed], { phase: "offline", attempts: 1, why: undefined }],
  ["each failed attempt counts", [opened, joined, closed, closed, closed], { phase: "offline", attempts: 3, why: undefined }],
  ["an open socket resets the count", [closed, closed, opened, closed], { phase: "offline", attempts: 1, why: undefined }],
  [
    "why the server ended it stays said while attempts fail",
    [opened, joined, { type: "closed", why: "restart" }, closed],
    { phase: "offline", attempts: 2, why: "restart" },
  ],
  ["an answer that comes after the loss changes nothing", [opened, closed, joined], { phase: "offline", attempts: 1, why: undefined }],
  [
    "a refusal says why",
    [opened, { type: "refused", fault: noAnswer }],
    { phase: "refused", transport: "websocket", fault: noAnswer },
  ],
  ["a refusal ends with a join", [opened, { type: "refused", fault: noAnswer }, joined], online],
  ["a removal is final", [opened, joined, { type: "removed" }], { phase: "removed" }],
  [
    "the fallback shows",
    [{ type: "opened", transport: "longpoll" }, joined],
    { phase: "online", transport: "longpoll" },
  ],
])("%s", (_, events, link) => {
  expect(events.reduce(reduceLink, unlinked)).toEqual(link);
});
