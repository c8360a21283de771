// Binary payloads, which the client has since 1.5.8.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { answer, Inbox, joined } from "./harness/answers.js";
import { connect, newest } from "./harness/clients.js";
import { startFixture } from "./harness/process.js";

let fixture;
before(async () => { fixture = await startFixture(); });
after(() => fixture?.end());

function bytes(...values) {
  return Uint8Array.from(values).buffer;
}

test("a binary push gets a binary reply, and a binary push of the server comes before it", async (t) => {
  const channel = await joined(connect(t, newest, fixture.socket), "room:binary");
  const pushes = Inbox.of(channel, "pbin");
  const { status, response } = await answer(channel.push("bin", bytes(5, 6)));
  assert.equal(status, "ok");
  assert.deepEqual(response, bytes(5, 6, 9));
  assert.equal(pushes.length, 1);
  assert.deepEqual(await pushes.next(), bytes(0, 1));
});

test("a binary broadcast reaches both clients with every byte", async (t) => {
  const every = bytes(...Array.from({ length: 256 }, (_, value) => value));
  const [ann, bob] = [connect(t, newest, fixture.socket), connect(t, newest, fixture.socket)];
  const [annChannel, bobChannel] = [await joined(ann, "room:binary"), await joined(bob, "room:binary")];
  const inboxes = [Inbox.of(annChannel, "bbin"), Inbox.of(bobChannel, "bbin")];
  annChannel.push("bbin", every);
  for (const inbox of inboxes) assert.deepEqual(await inbox.next(), every);
});

test("an empty binary payload stays one", async (t) => {
  const channel = await joined(connect(t, newest, fixture.socket), "room:binary");
  assert.deepEqual((await answer(channel.push("bin", bytes()))).response, bytes(9));
});

test("text and binary mix on one channel", async (t) => {
  const channel = await joined(connect(t, newest, fixture.socket), "room:binary");
  const [text, binary, again] = await Promise.all([
    answer(channel.push("echo", { n: 1 })),
    answer(channel.push("bin", bytes(1))),
    answer(channel.push("echo", { n: 2 })),
  ]);
  assert.deepEqual([text.response, again.response], [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(binary.response, bytes(1, 9));
});
