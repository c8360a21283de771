// A device that is gone without a word: no heartbeat comes, and nothing was closed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Inbox } from "./harness/answers.js";
import { comeIn, tokenOf, trustSite } from "./harness/messenger.js";
import { startThrong } from "./harness/process.js";

test("who falls silent is found by the missing heartbeats, and is offline to others", async (t) => {
  const throng = await startThrong({ THRONG_SOCKET_IDLE_TIMEOUT: "2s" });
  t.after(() => throng.end());
  await trustSite(throng);
  const every = (heartbeatIntervalMs) => ({ options: { heartbeatIntervalMs } });
  const ann = await comeIn(t, throng, { token: tokenOf("ann") }, every(200));
  const seen = new Inbox("how Bob is");
  for (const channel of [ann.room, ann.person]) {
    channel.on("presence", ({ person, status }) => person === "bob" && seen.add(status));
  }
  const bob = await comeIn(t, throng, { token: tokenOf("bob") }, every(3_600_000));
  // The cable is out: nothing is said any more, and what the server says is not read.
  bob.socket.conn._socket.pause();
  assert.equal(await seen.next(), "online");
  assert.equal(await seen.until((status) => status !== "online"), "offline");
  assert.ok(ann.socket.isConnected());
});
