// Presence: the newest client's tracker with its callbacks, the old ones' functions over state and diffs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { answer, Inbox, joined } from "./harness/answers.js";
import { clients, connect, newest } from "./harness/clients.js";
import { startFixture } from "./harness/process.js";

const TOPIC = "room:pres";

let fixture;
before(async () => { fixture = await startFixture(); });
after(() => fixture?.end());

/** Joins with a key; `changes` gets `{joined}` and `{left}` by key, `here()` lists the keys that are known now. */
async function present(t, key) {
  const socket = connect(t, newest, fixture.socket);
  const channel = socket.channel(TOPIC, { key });
  const presence = new newest.Presence(channel);
  const changes = new Inbox(`changes that ${key} sees`);
  presence.onJoin((who, _before, { metas }) => changes.add({ joined: who, metas }));
  presence.onLeave((who, { metas: remaining }) => changes.add({ left: who, remaining: remaining.length }));
  const syncs = new Inbox(`syncs of ${key}`);
  presence.onSync(() => syncs.add("synced"));
  assert.equal((await answer(channel.join())).status, "ok");
  await syncs.next();
  return { socket, channel, changes, here: () => presence.list((who) => who).sort() };
}

describe(`${newest.name}, callbacks`, () => {
  test("who comes and who goes is told to those who are there", async (t) => {
    const ann = await present(t, "ann-1");
    const bob = await present(t, "bob-1");
    assert.deepEqual(bob.here(), ["ann-1", "bob-1"]);
    await ann.changes.until(({ joined }) => joined === "bob-1");
    assert.deepEqual(ann.here(), ["ann-1", "bob-1"]);

    await answer(bob.channel.leave());
    await ann.changes.until(({ left }) => left === "bob-1");
    assert.deepEqual(ann.here(), ["ann-1"]);
  });

  test("a lost connection is a leave", async (t) => {
    const ann = await present(t, "ann-2");
    const bob = await present(t, "bob-2");
    await ann.changes.until(({ joined }) => joined === "bob-2");
    bob.socket.disconnect();
    await ann.changes.until(({ left }) => left === "bob-2");
    assert.ok(!ann.here().includes("bob-2"));
  });

  test("one key on two connections is one presence with two metas, until both are gone", async (t) => {
    const ann = await present(t, "ann-3");
    const phone = await present(t, "bob-3");
    const laptop = await present(t, "bob-3");
    const remaining = async () => (await ann.changes.until(({ left }) => left === "bob-3")).remaining;

    await answer(phone.channel.leave());
    assert.equal(await remaining(), 1);
    assert.ok(ann.here().includes("bob-3"));
    await answer(laptop.channel.leave());
    assert.equal(await remaining(), 0);
    assert.ok(!ann.here().includes("bob-3"));
  });

  test("an update replaces the meta without a moment of absence", async (t) => {
    const ann = await present(t, "ann-4");
    const bob = await present(t, "bob-4");
    const [first] = (await ann.changes.until(({ joined }) => joined === "bob-4")).metas;

    await answer(bob.channel.push("upd", {}));
    const { metas } = await ann.changes.until(({ joined }) => joined === "bob-4");
    const updated = metas.find(({ n }) => n === 2);
    assert.equal(updated.phx_ref_prev, first.phx_ref);
    assert.ok(ann.here().includes("bob-4"));
    assert.equal((await ann.changes.until(({ left }) => left === "bob-4")).remaining, 1);
  });
});

for (const client of clients.filter(({ Presence }) => Presence.syncDiff)) {
  test(`${client.name}: state and diffs make the list`, async (t) => {
    const { Presence } = client;
    const socket = connect(t, client, fixture.socket);
    const channel = socket.channel(TOPIC, { key: "ann-5" });
    const [states, diffs] = [Inbox.of(channel, "presence_state"), Inbox.of(channel, "presence_diff")];
    await answer(channel.join());
    let here = Presence.syncState({}, await states.next());
    assert.ok(Object.keys(here).includes("ann-5"));

    const bob = await joined(connect(t, client, fixture.socket), TOPIC, { key: "bob-5" });
    const sync = async (isWanted) => {
      await diffs.until((diff) => {
        here = Presence.syncDiff(here, diff);
        return isWanted(diff);
      });
    };
    await sync(({ joins }) => "bob-5" in joins);
    assert.ok(Object.keys(here).includes("bob-5"));
    await answer(bob.leave());
    await sync(({ leaves }) => "bob-5" in leaves);
    assert.ok(!Object.keys(here).includes("bob-5"));
  });
}
