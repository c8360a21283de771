// `rooms:lobby` of the server itself: what its page, or anybody's client, can count on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { answer, Inbox, joined } from "./harness/answers.js";
import { clients, connect, newest } from "./harness/clients.js";
import { startThrong } from "./harness/process.js";

/** Above this many people a topic's presence is a number only. */
const PEOPLE_LISTED_MAX = 500;

let throng;
before(async () => { throng = await startThrong(); });
after(() => throng?.end());

for (const client of clients) {
  test(`${client.name}: a message carries the name of the join, and not one of its own`, async (t) => {
    const ann = await joined(connect(t, client, throng.socket), "rooms:lobby", { name: "Ann" });
    const messages = Inbox.of(ann, "new_msg");
    const said = { body: "<i>hi</i> & \u{1f44b}", name: "Somebody else" };
    assert.equal((await answer(ann.push("new_msg", said))).status, "ok");
    assert.deepEqual(await messages.next(), { name: "Ann", body: said.body });
  });
}

test("who joins without a word about themselves is not present", async (t) => {
  const channel = connect(t, newest, throng.socket).channel("rooms:quiet", { name: "Ann", presence: true, key: "k1" });
  const states = Inbox.of(channel, "presence_state");
  const diffs = Inbox.of(channel, "presence_diff");
  await answer(channel.join());
  await states.next();
  await diffs.until(({ joins }) => "k1" in joins);

  const silent = await joined(connect(t, newest, throng.socket), "rooms:quiet");
  await answer(silent.push("new_msg", { body: "hello" }));
  await answer(channel.push("new_msg", { body: "hello" }));
  assert.equal(diffs.length, 0);
});

test("what cannot be said is refused with a reason", async (t) => {
  const channel = await joined(connect(t, newest, throng.socket), "rooms:lobby", { name: "Ann" });
  for (const payload of [{}, { body: 7 }, { body: "" }, { body: "x".repeat(10_000) }]) {
    const { status, response } = await answer(channel.push("new_msg", payload));
    assert.equal(status, "error");
    assert.equal(typeof response.reason, "string");
  }
});

test("a crowd is counted, and listed again once it is smaller", async (t) => {
  const watcher = connect(t, newest, throng.socket).channel("rooms:crowd", { name: "Watcher", presence: true });
  const [counts, states] = [Inbox.of(watcher, "presence_count"), Inbox.of(watcher, "presence_state")];
  await answer(watcher.join());
  await states.next();

  const crowd = Array.from({ length: PEOPLE_LISTED_MAX + 10 }, () => connect(t, newest, throng.socket));
  await Promise.all(
    crowd.map((socket, at) => joined(socket, "rooms:crowd", { name: `Person ${at}`, presence: true })),
  );
  await counts.until(({ count }) => count === crowd.length + 1);

  const [first, second] = crowd;
  for (const socket of crowd.slice(2)) socket.disconnect();
  assert.ok(Object.keys(await states.next()).length <= PEOPLE_LISTED_MAX);
  assert.ok(first.isConnected() && second.isConnected());
});
