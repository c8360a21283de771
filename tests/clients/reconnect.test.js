// The clients come back by themselves after the server was restarted.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { answer, Inbox } from "./harness/answers.js";
import { clients, connect, pollingClients } from "./harness/clients.js";
import { startThrong } from "./harness/process.js";

let throng;
beforeEach(async () => { throng = await startThrong(); });
afterEach(() => throng?.end());

/** In `rooms:lobby`, with each join, rejoins included, in `joins`. */
async function enter(t, client, name, options = {}) {
  const socket = connect(t, client, throng.socket, options);
  const [joins, closes] = [new Inbox(`joins of ${name}`), new Inbox(`closes of ${name}`)];
  socket.onClose((event) => closes.add(event));
  const channel = socket.channel("rooms:lobby", { name, presence: true });
  const messages = Inbox.of(channel, "new_msg");
  const states = Inbox.of(channel, "presence_state");
  channel.join().receive("ok", () => joins.add("ok"));
  await joins.next();
  return { channel, joins, closes, messages, states };
}

for (const client of clients) {
  test(`${client.name} rejoins after a restart, and talks on`, async (t) => {
    const ann = await enter(t, client, "Ann");
    const bob = await enter(t, client, "Bob");
    await throng.stop();
    assert.equal((await ann.closes.next()).code, 1012);
    await throng.start();
    await Promise.all([ann.joins.next(), bob.joins.next()]);

    assert.equal((await answer(ann.channel.push("new_msg", { body: "back" }))).status, "ok");
    for (const { messages } of [ann, bob]) {
      assert.deepEqual(await messages.next(), { name: "Ann", body: "back" });
    }
  });

  test(`${client.name} gets the presence state again with the rejoin`, async (t) => {
    const ann = await enter(t, client, "Ann");
    await ann.states.next();
    await throng.stop();
    await throng.start();
    await ann.joins.next();
    const people = Object.values(await ann.states.next()).map(({ metas }) => metas[0].name);
    assert.deepEqual(people, ["Ann"]);
  });

  test(`${client.name} sends what was pushed while the server was away once it is back`, async (t) => {
    const ann = await enter(t, client, "Ann");
    await throng.stop();
    await ann.closes.next();
    const pushed = answer(ann.channel.push("new_msg", { body: "kept" }));
    await throng.start();
    assert.equal((await pushed).status, "ok");
    assert.deepEqual(await ann.messages.next(), { name: "Ann", body: "kept" });
  });
}

for (const client of pollingClients) {
  test(`${client.name} rejoins over long-polling after a restart`, async (t) => {
    const ann = await enter(t, client, "Ann", { transport: client.LongPoll });
    await throng.stop();
    await throng.start();
    await ann.joins.next();
    assert.equal((await answer(ann.channel.push("new_msg", { body: "back" }))).status, "ok");
    assert.deepEqual(await ann.messages.next(), { name: "Ann", body: "back" });
  });
}
