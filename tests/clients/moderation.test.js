// Keeping order, as a stock client sees it: bans, mutes, slow mode, deletions, reports, and the log of all that.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Inbox } from "./harness/answers.js";
import { within } from "./harness/deadline.js";
import { COMMUNITY, comeIn, firstJoin, isRefused, LOBBY, ok, refused, tokenOf, trustSite } from "./harness/messenger.js";
import { startThrong } from "./harness/process.js";

let throng;
before(async () => {
  throng = await startThrong();
  await trustSite(throng);
});
after(() => throng?.end());

/** Somebody whom the host site calls a moderator of the whole community. */
function moderator(t) {
  return comeIn(t, throng, { token: tokenOf("mod", { roles: ["moderator"] }) });
}

let people = 0;

/** Somebody whom no other test knows. */
function member(t) {
  people += 1;
  return comeIn(t, throng, { token: tokenOf(`member-${people}`) });
}

/** Waits until a channel is ended by the server. */
function closed(channel) {
  return within(new Promise((resolve) => { channel.onClose(resolve); }), `${channel.topic} is closed`);
}

/** What a join by another socket comes to. */
function rejoin(t, person, topic = LOBBY) {
  return firstJoin(t, throng, { token: tokenOf(person) }, topic);
}

test("who is muted reads and hears, and writes again when it is lifted or over", async (t) => {
  const [mod, ann] = [await moderator(t), await member(t)];
  const told = Inbox.of(ann.person, "sanction");
  const heard = Inbox.of(ann.room, "msg:new");
  const until = Date.now() + 3_600_000;
  const mute = { person: ann.me.id, kind: "mute", until, reason: "noise" };
  await ok(mod.room, "sanction", mute);
  const notice = await told.next();
  assert.deepEqual([notice.kind, notice.until, notice.on], ["mute", until, true]);
  assert.equal(notice.reason, undefined, "the reason is for moderators");
  const { details } = await refused(ann.room, "msg:new", { text: "but" }, "muted");
  assert.equal(details.until, until);
  await refused(ann.room, "react", { seq: 1, emoji: "x" }, "muted");
  const { seq } = await ok(mod.room, "msg:new", { text: "quiet now" });
  await heard.until((message) => message.seq === seq);
  assert.ok((await ok(ann.room, "history", { limit: 1 })).messages.length > 0);

  await ok(mod.room, "sanction:lift", { person: ann.me.id, kind: "mute" });
  assert.deepEqual(await told.next(), { conversation: ann.lobby.conversation.id, kind: "mute", on: false });
  await ok(ann.room, "msg:new", { text: "thanks" });

  await ok(mod.room, "sanction", { ...mute, until: Date.now() - 1 });
  await ok(ann.room, "msg:new", { text: "it was over at once" });
});

test("who is banned from a room has to leave it, stays out, and comes back when it is lifted", async (t) => {
  const [mod, ann, bob] = [await moderator(t), await member(t), await member(t)];
  const ended = closed(ann.room);
  // Her own topic stays open: messages of the room would come to it, too.
  const heard = Inbox.of(ann.person, "msg:new");
  await ok(mod.room, "sanction", { person: ann.me.id, kind: "ban", reason: "spam" });
  await ended;
  isRefused(await rejoin(t, ann.me.id), "banned", "join");
  const { seq } = await ok(bob.room, "msg:new", { text: "she does not hear this" });
  // What was told before these are answered has come by then.
  await refused(ann.person, "msg:new", { conversation: ann.lobby.conversation.id, text: "still here" }, "banned");
  await refused(ann.person, "history", { conversation: ann.lobby.conversation.id }, "banned");
  assert.equal(heard.length, 0);
  const { sanctions } = await ok(mod.room, "sanctions", {});
  assert.deepEqual(sanctions.filter(({ person }) => person === ann.me.id).map(({ kind, reason }) => [kind, reason]), [["ban", "spam"]]);

  await ok(mod.room, "sanction:lift", { person: ann.me.id, kind: "ban" });
  const { status, response } = await rejoin(t, ann.me.id);
  assert.equal(status, "ok");
  assert.equal(response.messages.at(-1).seq, seq);
});

test("who is banned from the community is gone from everywhere, by whatever connection", async (t) => {
  const [mod, ann] = [await moderator(t), await member(t)];
  const codes = new Inbox("close codes");
  ann.socket.onClose(({ code }) => codes.add(code));
  await ok(mod.person, "sanction", { person: ann.me.id, kind: "ban" });
  assert.equal(await codes.next(), 4403);
  for (const topic of [LOBBY, `person:${COMMUNITY}/${ann.me.id}`]) {
    isRefused(await rejoin(t, ann.me.id, topic), "banned", topic);
  }
  await ok(mod.person, "sanction:lift", { person: ann.me.id, kind: "ban" });
  assert.equal((await rejoin(t, ann.me.id)).status, "ok");
});

test("in slow mode members wait, and are told how long; moderators do not", async (t) => {
  const [mod, ann] = [await moderator(t), await member(t)];
  const changes = Inbox.of(ann.room, "conversation:changed");
  await ok(mod.room, "conversation:change", { slow_mode_s: 60 });
  assert.equal((await changes.next()).slow_mode_s, 60);
  await ok(ann.room, "msg:new", { text: "one" });
  const { details } = await refused(ann.room, "msg:new", { text: "two" }, "slow_mode");
  assert.ok(details.retry_after_ms > 0 && details.retry_after_ms <= 60_000, JSON.stringify(details));
  for (const text of ["three", "four"]) await ok(mod.room, "msg:new", { text });
  await ok(mod.room, "conversation:change", { slow_mode_s: 0 });
  assert.equal((await changes.next()).slow_mode_s, 0);
  await ok(ann.room, "msg:new", { text: "five" });
});

test("a message is reported, deleted by a moderator, and all of it is in the log", async (t) => {
  const [mod, ann, bob] = [await moderator(t), await member(t), await member(t)];
  const deletes = Inbox.of(bob.room, "msg:delete");
  const { seq } = await ok(ann.room, "msg:new", { text: "something bad" });
  const { report } = await ok(bob.room, "report", { seq, reason: "rude" });
  await refused(bob.room, "reports", {}, "not_permitted");
  const { reports } = await ok(mod.room, "reports", {});
  assert.deepEqual(reports.filter(({ id }) => id === report).map((each) => [each.seq, each.reason]), [[seq, "rude"]]);
  await ok(mod.room, "msg:delete", { seq });
  const tombstone = await deletes.next();
  assert.deepEqual([tombstone.seq, tombstone.text, tombstone.deleted.moderated], [seq, "", true]);
  await ok(mod.room, "report:settle", { report, note: "deleted" });
  assert.deepEqual((await ok(mod.room, "reports", {})).reports.filter(({ id }) => id === report), []);
  const { audit } = await ok(mod.room, "audit", { limit: 9 });
  const deeds = audit.map(({ deed, by }) => [deed, by]);
  for (const deed of ["delete_message", "settle_report"]) {
    assert.ok(deeds.some(([done, by]) => done === deed && by === "mod"), `${deed} in ${JSON.stringify(deeds)}`);
  }
});

test("nobody keeps order without a role for it, nor above themselves", async (t) => {
  const [mod, ann, bob] = [await moderator(t), await member(t), await member(t)];
  const { seq } = await ok(ann.room, "msg:new", { text: "mine" });
  const ban = { person: ann.me.id, kind: "ban" };
  await refused(bob.room, "sanction", ban, "not_permitted");
  await refused(bob.person, "sanction", ban, "not_permitted");
  await refused(bob.room, "sanction", { person: mod.me.id, kind: "mute" }, "not_permitted");
  await refused(bob.room, "msg:delete", { seq }, "not_permitted");
  await refused(bob.room, "conversation:change", { slow_mode_s: 5 }, "not_permitted");
  for (const event of ["audit", "sanctions"]) await refused(bob.room, event, {}, "not_permitted");
  await refused(mod.room, "sanction", { person: "mod", kind: "mute" }, "not_permitted");
});

test("a token that is revoked closes what stands on it, and is good for nothing any more, after a restart too", async (t) => {
  const token = tokenOf("stolen", { jti: "t-1" });
  const thief = await comeIn(t, throng, { token });
  const codes = new Inbox("close codes");
  thief.socket.onClose(({ code }) => codes.add(code));
  const revoke = `/communities/${COMMUNITY}/people/stolen/revocations`;
  assert.deepEqual(await throng.operate("POST", revoke, { token_id: "t-1" }), { connections: 1 });
  assert.equal(await codes.next(), 4403);
  thief.socket.disconnect();
  const come = (shown) => firstJoin(t, throng, { token: shown });
  isRefused(await come(token), "token_revoked", "join");
  await throng.stop();
  await throng.start();
  isRefused(await come(token), "token_revoked", "join after a restart");
  assert.equal((await come(tokenOf("stolen", { jti: "t-2" }))).status, "ok");
});
