import { expect, test } from "vitest";
import type { RoomEvent } from "../protocol/events";
import { reduceLink, unlinked, type Link } from "./link";

const opened: RoomEvent = { type: "opened", transport: "websocket" };
const joined: RoomEvent = { type: "joined", me: "ann", title: "Lobby" };
const interrupted: RoomEvent = { type: "interrupted" };
const closed: RoomEvent = { type: "closed" };
const online: Link = { phase: "online", transport: "websocket" };

test.each<[string, RoomEvent[], Link]>([
  ["nothing happened yet", [], { phase: "connecting" }],
  ["an open socket is not yet a place in the room", [opened], { phase: "joining", transport: "websocket" }],
  ["a join makes it one", [opened, joined], online],
  ["a channel that breaks is joined again", [opened, joined, interrupted, joined], online],
  ["a loss counts as the first failure", [opened, joined, interrupted, closed], { phase: "offline", attempts: 1 }],
  ["each failed attempt counts", [opened, joined, closed, closed, closed], { phase: "offline", attempts: 3 }],
  ["an open socket resets the count", [closed, closed, opened, closed], { phase: "offline", attempts: 1 }],
  ["an answer that comes after the loss changes nothing", [opened, closed, joined], { phase: "offline", attempts: 1 }],
  [
    "a refusal says why",
    [opened, { type: "refused", reason: "full" }],
    { phase: "refused", transport: "websocket", reason: "full" },
  ],
  ["a refusal ends with a join", [opened, { type: "refused", reason: "full" }, joined], online],
  ["a removal is final", [opened, joined, { type: "removed" }], { phase: "removed" }],
  [
    "the fallback shows",
    [{ type: "opened", transport: "longpoll" }, joined],
    { phase: "online", transport: "longpoll" },
  ],
])("%s", (_, events, link) => {
  expect(events.reduce(reduceLink, unlinked)).toEqual(link);
});
