// A community and a room that are erased under the people who are in them, and what the people of one address may do together.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Inbox } from "./harness/answers.js";
import { connect, newest } from "./harness/clients.js";
import { COMMUNITY, comeIn, firstJoin, isRefused, join, LOBBY, ok, refused, refusedJoin, tokenOf, trustSite } from "./harness/messenger.js";
import { startThrong } from "./harness/process.js";

/** Its name is free when the server has seen the connections of its people end. */
async function makeAnew(throng) {
  for (;;) {
    try {
      return await throng.operate("POST", "/communities", { id: COMMUNITY, settings: { name: "Anew" } });
    } catch (error) {
      assert.match(error.message, / 409 .*still stand/);
      await setTimeout(50);
    }
  }
}

test("whose community is erased is told so, is let in no more, and finds nothing of it in one of its name", async (t) => {
  const throng = await startThrong();
  t.after(() => throng.end());
  await trustSite(throng);
  const people = [await comeIn(t, throng, { token: tokenOf("ann") }), await comeIn(t, throng, { name: "a guest" })];
  await ok(people[0].room, "msg:new", { text: "the last word" });
  const stats = await throng.operate("GET", `/communities/${COMMUNITY}/stats`);
  assert.deepEqual([stats.people_online, stats.devices_online, stats.rooms_open], [2, 2, 1]);
  const codes = people.map(({ socket }) => {
    const closed = new Inbox("close codes");
    socket.onClose(({ code }) => {
      // The client would come back for ever.
      socket.disconnect();
      closed.add(code);
    });
    return closed;
  });
  const report = await throng.operate("DELETE", `/communities/${COMMUNITY}`);
  assert.deepEqual([report.done, report.messages, report.people], [true, 1, 2]);
  for (const closed of codes) assert.equal(await closed.next(), 4403);
  for (const params of [{ token: tokenOf("ann") }, { name: "a guest" }, { token: people[1].me.token }]) {
    isRefused(await firstJoin(t, throng, params), "not_found", JSON.stringify(Object.keys(params)));
  }

  await makeAnew(throng);
  await throng.operate("POST", `/communities/${COMMUNITY}/rooms`, { name: "lobby", kind: "public", title: "Lobby" });
  isRefused(await firstJoin(t, throng, { token: tokenOf("ann") }), "token_invalid", "a token of the former one");
  const guest = await comeIn(t, throng, { name: "a guest" });
  assert.deepEqual([guest.lobby.messages, guest.lobby.conversation.last], [[], 0]);
});

test("who is in a room that is erased is told so and out of it, and finds nothing of it in one of its name", async (t) => {
  const throng = await startThrong();
  t.after(() => throng.end());
  await trustSite(throng);
  const people = [await comeIn(t, throng, { token: tokenOf("ann") }), await comeIn(t, throng, { name: "a guest" })];
  const room = `/communities/${COMMUNITY}/conversations/room:lobby`;
  // One who only looks, and one who is a member and has nothing open.
  const visitor = await join(connect(t, newest, throng.socket, { params: { community: COMMUNITY, name: "looks" } }), LOBBY, { visit: true });
  await throng.operate("PUT", "/communities/default/people/bob", { name: "Bob" });
  await throng.operate("PUT", `${room}/members/bob`, {});
  const bob = connect(t, newest, throng.socket, { params: { community: COMMUNITY, token: tokenOf("bob") } });
  const away = { me: { id: "bob" }, ...(await join(bob, `person:${COMMUNITY}/bob`)) };
  const members = [...people, { me: away.me, person: away.channel }];
  const out = members.map(({ person }) => {
    const told = new Inbox("member:out");
    person.on("member:out", (payload) => told.add(payload));
    return told;
  });
  const ends = [...people.map((one) => one.room), visitor.channel].map((channel) => {
    const ended = new Inbox("ends of joins");
    channel.onClose(() => ended.add("closed"));
    return ended;
  });
  const { conversation } = await ok(people[0].room, "msg:new", { text: "the last word" });
  const report = await throng.operate("DELETE", room);
  assert.deepEqual([report.done, report.messages], [true, 1]);
  for (const [nth, told] of out.entries()) {
    assert.deepEqual(await told.next(), { conversation, person: members[nth].me.id, why: "erased" });
  }
  for (const ended of ends) assert.equal(await ended.next(), "closed");
  for (const { person } of members) {
    assert.deepEqual((await ok(person, "conversations")).conversations, []);
    await refused(person, "history", { conversation }, "not_found");
    await refused(person, "msg:new", { conversation, text: "after all" }, "not_found");
  }
  await refusedJoin(people[0].socket, LOBBY, "not_found");

  await throng.operate("POST", `/communities/${COMMUNITY}/rooms`, { name: "lobby", kind: "public", title: "Anew" });
  const anew = await join(people[0].socket, LOBBY);
  assert.deepEqual([anew.response.messages, anew.response.conversation.last], [[], 0]);
  assert.notEqual(anew.response.conversation.id, conversation);
});

test("the people of one address say as much, and are as many new guests, as an address may", async (t) => {
  const throng = await startThrong({
    THRONG_LIMITS_MESSAGES_PER_MINUTE_PER_IP: "3",
    THRONG_LIMITS_GUESTS_PER_MINUTE_PER_IP: "2",
  });
  t.after(() => throng.end());
  const [ann, bob] = [await comeIn(t, throng, { name: "Ann" }), await comeIn(t, throng, { name: "Bob" })];
  const third = isRefused(await firstJoin(t, throng, { name: "Cat" }), "rate_limited", "the third guest");
  assert.deepEqual([third.details.limit, third.details.max], ["guests_per_minute_per_ip", 2]);
  assert.ok(third.details.retry_after_ms > 0);
  // Who has been here is no new guest.
  assert.equal((await firstJoin(t, throng, { token: ann.me.token })).status, "ok");

  for (const { room } of [ann, bob, ann]) await ok(room, "msg:new", { text: "hi" });
  const { details } = await refused(bob.room, "msg:new", { text: "one more" }, "rate_limited");
  assert.deepEqual([details.limit, details.max], ["messages_per_minute_per_ip", 3]);
  const metrics = await (await fetch(throng.metrics)).text();
  assert.match(metrics, /throng_rate_limited_total\{limit="guests"\} [1-9]/);
});
