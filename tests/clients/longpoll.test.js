// Long-polling: as the chosen transport of every version, and as what the newest falls back to.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import WebSocket from "ws";
import { answer, Inbox, joined } from "./harness/answers.js";
import { connect, newest, pollingClients } from "./harness/clients.js";
import { startFixture, startThrong } from "./harness/process.js";

let fixture;
before(async () => { fixture = await startFixture(); });
after(() => fixture?.end());

for (const client of pollingClients) {
  describe(`${client.name} over long-polling`, () => {
    const poll = (t, options = {}) => connect(t, client, fixture.socket, { transport: client.LongPoll, ...options });

    test("joins, pushes, gets replies and errors", async (t) => {
      const channel = await joined(poll(t), "room:a");
      assert.deepEqual(await answer(channel.push("echo", { n: 1 })), { status: "ok", response: { n: 1 } });
      assert.deepEqual(await answer(channel.push("fail", { n: 2 })), { status: "error", response: { n: 2 } });
    });

    test("hears what a WebSocket says, and is heard", async (t) => {
      const topic = `room:both-${client.name}`;
      const [polling, open] = [await joined(poll(t), topic), await joined(connect(t, client, fixture.socket), topic)];
      const [pollingInbox, openInbox] = [Inbox.of(polling, "new_msg"), Inbox.of(open, "new_msg")];
      open.push("new_msg", { from: "socket" });
      assert.deepEqual(await pollingInbox.next(), { from: "socket" });
      assert.deepEqual(await openInbox.next(), { from: "socket" });
      polling.push("new_msg", { from: "poll" });
      assert.deepEqual(await pollingInbox.next(), { from: "poll" });
      assert.deepEqual(await openInbox.next(), { from: "poll" });
    });

    test("outlives several empty polls", async (t) => {
      const channel = await joined(poll(t), "room:a");
      // The fixture's window is one second: each timeout below is one or two empty polls.
      for (let polls = 0; polls < 3; polls += 1) {
        assert.equal((await answer(channel.push("quiet", {}, 1500))).status, "timeout");
      }
      assert.equal((await answer(channel.push("echo", {}))).status, "ok");
    });
  });
}

test("many pushes at once arrive all, in order", async (t) => {
  const PUSHES = 250;
  const socket = connect(t, newest, fixture.socket, { transport: newest.LongPoll });
  const channel = await joined(socket, "room:batch");
  const inbox = Inbox.of(channel, "new_msg");
  for (let n = 0; n < PUSHES; n += 1) channel.push("new_msg", { n });
  for (let n = 0; n < PUSHES; n += 1) assert.deepEqual(await inbox.next(), { n });
});

test("a binary push goes out beside text", async (t) => {
  const open = await joined(connect(t, newest, fixture.socket), "room:lp-binary");
  const inbox = Inbox.of(open, "bbin");
  const polling = await joined(
    connect(t, newest, fixture.socket, { transport: newest.LongPoll }),
    "room:lp-binary",
  );
  polling.push("bbin", Uint8Array.of(0, 255, 10).buffer);
  assert.deepEqual(await inbox.next(), Uint8Array.of(0, 255, 10).buffer);
});

test("the auth token travels in a header", async (t) => {
  const endpoint = fixture.socket.replace("/patient", "/auth");
  const options = { transport: newest.LongPoll, authToken: "s3cret" };
  const channel = await joined(connect(t, newest, endpoint, options), "room:a");
  assert.equal((await answer(channel.push("whoami", {}))).response.token, "s3cret");
});

test("a client whose WebSockets never open falls back", async (t) => {
  /** As behind a proxy that swallows upgrades: the connection is made, nothing ever comes back. */
  class Swallowed {
    readyState = WebSocket.CONNECTING;
    close() {}
    send() {}
  }
  const options = { transport: Swallowed, longPollFallbackMs: 100, sessionStorage: new Memory() };
  const socket = connect(t, newest, fixture.socket, options);
  const channel = await joined(socket, "room:a");
  assert.equal(socket.transport, newest.LongPoll);
  assert.equal((await answer(channel.push("echo", {}))).status, "ok");
});

test("a client whose WebSockets are refused falls back", async (t) => {
  /** As a proxy that answers upgrades with an error. */
  class Refused extends WebSocket {
    constructor(address) {
      super(address.replace("/patient/", "/nothing-here/"));
    }
  }
  const options = { transport: Refused, longPollFallbackMs: 10_000, sessionStorage: new Memory() };
  const socket = connect(t, newest, fixture.socket, options);
  await joined(socket, "room:a");
  assert.equal(socket.transport, newest.LongPoll);
});

// All of these are answered before the request is read, and so to a poll as to anything else. Whoever polls has two
// connections, one that waits for messages and one that sends, and a session, which counts as one of its address.
const bounds = [
  { found: "the server full", settings: { THRONG_LIMITS_CONNECTIONS: "2" }, others: 2, reason: "capacity" },
  { found: "its address full", settings: { THRONG_LIMITS_CONNECTIONS_PER_IP: "4" }, others: 4, reason: "connections_per_ip" },
];

for (const client of pollingClients) {
  for (const { found, settings, others, reason } of bounds) {
    test(`a polling ${client.name} that found ${found} comes in when there is room again`, async (t) => {
      const throng = await startThrong(settings);
      t.after(() => throng.end());
      const sockets = Array.from({ length: others }, () => connect(t, newest, throng.socket));
      await Promise.all(sockets.map((socket) => joined(socket, "rooms:lobby")));
      const refused = new Inbox("refused");
      const socket = connect(t, client, throng.socket, { transport: client.LongPoll });
      socket.onError(() => refused.add());
      for (let refusals = 0; refusals < 3; refusals += 1) await refused.next();
      const metrics = await (await fetch(throng.metrics)).text();
      assert.match(metrics, new RegExp(`^throng_rejected_total\\{reason="${reason}"\\} [1-9]`, "m"));
      for (const other of sockets) other.disconnect();
      await joined(socket, "rooms:lobby");
    });
  }
}

class Memory {
  #items = new Map();
  getItem(key) {
    return this.#items.get(key) ?? null;
  }
  setItem(key, value) {
    this.#items.set(key, value);
  }
}
