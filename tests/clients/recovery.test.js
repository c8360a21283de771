// A recoverable topic with the helper that docs/protocol.md gives: what was missed comes, in its order and once.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { answer, Inbox, joined } from "./harness/answers.js";
import { clients, connect, newest, pollingClients } from "./harness/clients.js";
import { startProxy } from "./harness/proxy.js";
import { startThrong } from "./harness/process.js";

const { recoverable } = await helperOfTheDocumentation();

let throng;
before(async () => {
  throng = await startThrong({ THRONG_HISTORY_TOPICS: "rooms:kept* messages=5" });
});
after(() => throng?.end());

async function helperOfTheDocumentation() {
  const page = readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8");
  const [, code] = /```js\n(export function recoverable[^]*?)```/.exec(page);
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** In a room through a proxy that can be cut, with each join, rejoins included, in `joins`. */
async function enter(t, client, topic, options = {}) {
  const proxy = await startProxy(throng.socket);
  t.after(() => proxy.end());
  const socket = connect(t, client, proxy.endpoint, options);
  const [joins, errors] = [new Inbox(`joins of ${topic}`), new Inbox(`errors of ${topic}`)];
  const channel = recoverable(socket, topic, { name: "Ann" });
  const messages = Inbox.of(channel, "new_msg");
  channel.onError(() => errors.add("cut"));
  channel.join().receive("ok", (response) => joins.add(response.recover));
  const first = await joins.next();
  return { channel, proxy, joins, errors, messages, first };
}

async function say(channel, ...bodies) {
  for (const body of bodies) {
    const { status, response } = await answer(channel.push("new_msg", { body }));
    assert.equal(status, "ok");
    assert.equal(typeof response.offset, "number");
  }
}

async function bodies(messages, count) {
  const taken = [];
  while (taken.length < count) taken.push((await messages.next()).body);
  return taken;
}

async function missesThree(t, client, topic, options) {
  const speaker = await joined(connect(t, newest, throng.socket), topic);
  const ann = await enter(t, client, topic, options);
  assert.equal(ann.first.recovered, undefined);
  await say(speaker, "one");
  assert.deepEqual(await bodies(ann.messages, 1), ["one"]);

  ann.proxy.cut();
  await ann.errors.next();
  await say(speaker, "two", "three", "four");
  ann.proxy.mend();
  const again = await ann.joins.next();
  assert.deepEqual([again.recovered, again.offset], [true, 1]);
  assert.equal(again.publisher, ann.first.publisher);

  await say(speaker, "five");
  assert.deepEqual(await bodies(ann.messages, 4), ["two", "three", "four", "five"]);
  assert.equal(ann.messages.length, 0);
}

for (const client of clients) {
  test(`${client.name} is given what it missed after its socket was cut`, async (t) => {
    await missesThree(t, client, `rooms:kept by ${client.name}`);
  });
}

for (const client of pollingClients) {
  test(`${client.name} is given what it missed over long-polling`, async (t) => {
    await missesThree(t, client, `rooms:kept by ${client.name}, polling`, { transport: client.LongPoll });
  });
}

test("who joins again before the answer is given what was missed once", async (t) => {
  const [, older] = clients;
  const topic = "rooms:kept for the impatient";
  const speaker = await joined(connect(t, newest, throng.socket), topic);
  const ann = await enter(t, older, topic);
  const { channel } = ann;
  channel.socket.onOpen(() => { for (let times = 0; times < 3; times += 1) channel.rejoin(); });
  ann.proxy.cut();
  await ann.errors.next();
  await say(speaker, "one", "two");
  ann.proxy.mend();
  await ann.joins.next();
  await say(speaker, "three");
  assert.deepEqual(await bodies(ann.messages, 3), ["one", "two", "three"]);
  // What would come twice has come by now: this goes the same way.
  assert.equal((await answer(channel.push("new_msg", { body: "four" }))).status, "ok");
  assert.deepEqual(await bodies(ann.messages, 1), ["four"]);
});

test("who was away for too long is told so, and goes on from there", async (t) => {
  const topic = "rooms:kept for a while";
  const speaker = await joined(connect(t, newest, throng.socket), topic);
  const ann = await enter(t, newest, topic);
  await say(speaker, "one");
  await ann.messages.next();
  ann.proxy.cut();
  await ann.errors.next();
  await say(speaker, "2", "3", "4", "5", "6", "7", "8");
  ann.proxy.mend();
  const { recovered, reason, offset } = await ann.joins.next();
  assert.deepEqual([recovered, reason, offset], [false, "too_old", 8]);
  await say(speaker, "nine");
  assert.deepEqual(await bodies(ann.messages, 1), ["nine"]);
  ann.proxy.cut();
  await ann.errors.next();
  await say(speaker, "ten");
  ann.proxy.mend();
  assert.equal((await ann.joins.next()).recovered, true);
  assert.deepEqual(await bodies(ann.messages, 1), ["ten"]);
});

test("after a restart of the server the order begins anew", async (t) => {
  const ann = await enter(t, newest, "rooms:kept no longer");
  await say(ann.channel, "one");
  await ann.messages.next();
  await throng.stop();
  await throng.start();
  const { recovered, reason, epoch } = await ann.joins.next();
  assert.deepEqual([recovered, reason], [false, "epoch"]);
  assert.notEqual(epoch, ann.first.epoch);
  await say(ann.channel, "again");
  assert.equal((await ann.messages.next()).phx_offset, 1);
});
