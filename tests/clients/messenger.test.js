// The messenger over its channels, by the stock clients: guests of the default community, as they come without any
// configuration. A whole conversation in every version and over long-polling; the rest by the newest.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { answer, Inbox } from "./harness/answers.js";
import { connect, newest } from "./harness/clients.js";
import { COMMUNITY, comeIn, join, LOBBY, ok, refused, refusedJoin, ways } from "./harness/messenger.js";
import { startThrong } from "./harness/process.js";

let throng;
before(async () => { throng = await startThrong(); });
after(() => throng?.end());

/** A device of somebody: a new guest of that name, or with `token` one more device of theirs. */
function device(t, name, token, way) {
  return comeIn(t, throng, token ? { token } : { name }, way);
}

describe("a room", () => {
  test("what one says all hear, in the order of its places, and who comes later finds it", async (t) => {
    const ann = await device(t, "Ann");
    const bob = await device(t, "Bob");
    const heard = Inbox.of(bob.room, "msg:new");
    const first = await ok(ann.room, "msg:new", { text: "hello", client_id: "a-1" });
    const second = await ok(ann.room, "msg:new", { text: "again", client_id: "a-2" });
    assert.equal(second.seq, first.seq + 1);
    for (const [said, text] of [[first, "hello"], [second, "again"]]) {
      const message = await heard.until(({ seq }) => seq === said.seq);
      assert.deepEqual([message.id, message.text, message.sender], [said.id, text, ann.me.id]);
    }
    const cat = await device(t, "Cat");
    assert.deepEqual(cat.lobby.messages.slice(-2).map(({ text }) => text), ["hello", "again"]);
    assert.equal(cat.lobby.conversation.last, second.seq);
  });

  test("a message that is sent again is the one that was stored, and is told once", async (t) => {
    const ann = await device(t, "Ann");
    const heard = Inbox.of(ann.room, "msg:new");
    const first = await ok(ann.room, "msg:new", { text: "once", client_id: "retry" });
    const again = await ok(ann.room, "msg:new", { text: "once", client_id: "retry" });
    assert.deepEqual([again.seq, again.id, again.repeated], [first.seq, first.id, true]);
    const next = await ok(ann.room, "msg:new", { text: "next", client_id: "retry-2" });
    await heard.until(({ seq }) => seq === first.seq);
    assert.equal((await heard.next()).seq, next.seq);
    await refused(ann.room, "msg:new", { text: "other", client_id: "retry" }, "client_id_reused");
  });

  test("messages are edited, reacted to and deleted, and everybody sees it", async (t) => {
    const ann = await device(t, "Ann");
    const bob = await device(t, "Bob");
    const [edits, reactions, deletes] =
      ["msg:edit", "react", "msg:delete"].map((event) => Inbox.of(bob.room, event));
    const { seq } = await ok(ann.room, "msg:new", { text: "helo" });
    await ok(ann.room, "msg:edit", { seq, text: "hello" });
    assert.equal((await edits.next()).text, "hello");
    await ok(bob.room, "react", { seq, emoji: "👍" });
    const reaction = await reactions.next();
    assert.deepEqual([reaction.person, reaction.reactions], [bob.me.id, [{ emoji: "👍", count: 1 }]]);
    await refused(bob.room, "msg:delete", { seq }, "not_permitted");
    await ok(ann.room, "msg:delete", { seq });
    const tombstone = await deletes.next();
    assert.deepEqual([tombstone.seq, tombstone.text], [seq, ""]);
    assert.ok(tombstone.deleted);
  });

  test("who was away gets what they missed, and no more", async (t) => {
    const ann = await device(t, "Ann");
    const bob = await device(t, "Bob");
    const { epoch } = bob.lobby;
    const known = await ok(ann.room, "msg:new", { text: "before" });
    bob.socket.disconnect();
    const missed = [];
    for (const text of ["one", "two", "three"]) missed.push((await ok(ann.room, "msg:new", { text })).seq);
    const socket = connect(t, newest, throng.socket, { params: { community: COMMUNITY, token: bob.me.token } });
    const back = await join(socket, LOBBY, { recover: { epoch, seq: known.seq } });
    assert.equal(back.response.recovered, true);
    assert.deepEqual(back.response.messages.map(({ seq }) => seq), missed);
    assert.equal(back.response.me.id, bob.me.id);
    const stranger = await join(connect(t, newest, throng.socket, { params: { community: COMMUNITY } }), LOBBY, {
      recover: { epoch: "another", seq: 1 },
    });
    assert.deepEqual([stranger.response.recovered, stranger.response.reason], [false, "epoch"]);
  });

  test("pages of history meet without a hole", async (t) => {
    const ann = await device(t, "Ann");
    for (let number = 0; number < 7; number += 1) await ok(ann.room, "msg:new", { text: `page ${number}` });
    const newestPage = await ok(ann.room, "history", { limit: 3 });
    const [first] = newestPage.messages;
    const before = await ok(ann.room, "history", { before: first.seq, limit: 3 });
    assert.equal(before.messages.at(-1).seq, first.seq - 1);
    const after = await ok(ann.room, "history", { after: first.seq - 1, limit: 3 });
    assert.deepEqual(after.messages.map(({ seq }) => seq), newestPage.messages.map(({ seq }) => seq));
    await refused(ann.room, "history", { before: 1, after: 1 }, "bad_payload");
  });

  test("a search finds words, without case and accents", async (t) => {
    const ann = await device(t, "Ann");
    const { id } = await ok(ann.room, "msg:new", { text: "Un Smörgåsbord extraordinaire" });
    const { messages } = await ok(ann.room, "search", { query: "smorgasbord EXTRA" });
    assert.deepEqual(messages.map((message) => message.id), [id]);
  });

  test("typing reaches the others and not the typist, once a second at most", async (t) => {
    const ann = await device(t, "Ann");
    const bob = await device(t, "Bob");
    const [own, others] = [Inbox.of(ann.room, "typing"), Inbox.of(bob.room, "typing")];
    for (let number = 0; number < 5; number += 1) await ok(ann.room, "typing");
    await ok(ann.room, "msg:new", { text: "typed" });
    assert.deepEqual(await others.next(), { conversation: bob.lobby.conversation.id, person: ann.me.id, on: true });
    await ok(bob.room, "history", { limit: 1 });
    assert.deepEqual([own.length, others.length], [0, 0]);
  });
});

describe("a conversation of two", () => {
  for (const way of ways) {
    test(`from the first word to the last, by ${way.name}`, async (t) => {
      const ann = await device(t, "Ann", undefined, way);
      const bob = await device(t, "Bob", undefined, way);
      const bobsPhone = await device(t, "Bob", bob.me.token, way);
      assert.equal(bobsPhone.me.id, bob.me.id);

      const opened = Inbox.of(bobsPhone.person, "conversation:new");
      const heard = [bob, bobsPhone].map(({ person }) => Inbox.of(person, "msg:new"));
      const { conversation } = await ok(ann.person, "direct", { with: bob.me.id });
      assert.equal((await opened.next()).conversation.id, conversation.id);
      const here = { conversation: conversation.id };

      // Sent by one, on both devices of the other.
      const first = await ok(ann.person, "msg:new", { ...here, text: "psst" });
      const second = await ok(ann.person, "msg:new", { ...here, text: `for @${bob.me.id}`, mentions: [bob.me.id] });
      for (const inbox of heard) {
        for (const { seq } of [first, second]) {
          await inbox.until((message) => message.conversation === conversation.id && message.seq === seq);
        }
      }
      assert.deepEqual(await tab(bobsPhone, conversation), { unread: 2, mentions: 1, last: second.seq });

      // Read on one device, known on the other and by the sender.
      const cursors = Inbox.of(bobsPhone.person, "cursors");
      const receipts = Inbox.of(ann.person, "receipt");
      await ok(bob.person, "read", { ...here, seq: second.seq });
      const moved = await cursors.until((cursor) => cursor.conversation === conversation.id);
      assert.deepEqual([moved.read, moved.unread], [second.seq, 0]);
      assert.deepEqual((({ person, read }) => [person, read])(await receipts.next()), [bob.me.id, second.seq]);
      assert.deepEqual(await tab(bobsPhone, conversation), { unread: 0, mentions: 0, last: second.seq });

      // Away and back.
      bob.socket.disconnect();
      bobsPhone.socket.disconnect();
      const third = await ok(ann.person, "msg:new", { ...here, text: "are you there?" });
      const back = await device(t, "Bob", bob.me.token, way);
      const line = back.home.conversations.find((each) => each.conversation.id === conversation.id);
      assert.deepEqual([line.unread, line.last.seq], [1, third.seq]);
      const { messages } = await ok(back.person, "history", { ...here, after: second.seq });
      assert.deepEqual(messages.map(({ text }) => text), ["are you there?"]);

      // Search, edit, delete, each from where the conversation has no topic of its own.
      const found = await ok(back.person, "search", { query: "psst" });
      assert.deepEqual(found.messages.map(({ seq }) => seq), [first.seq]);
      const edits = Inbox.of(back.person, "msg:edit");
      await ok(ann.person, "msg:edit", { ...here, seq: third.seq, text: "are you here?" });
      assert.equal((await edits.next()).text, "are you here?");
      const deletes = Inbox.of(back.person, "msg:delete");
      await ok(ann.person, "msg:delete", { ...here, seq: first.seq });
      assert.equal((await deletes.next()).seq, first.seq);
      assert.deepEqual((await ok(back.person, "search", { query: "psst" })).messages, []);
    });
  }

  test("who is blocked cannot write any more, and a third person finds nothing", async (t) => {
    const [ann, bob, cat] = [await device(t, "Ann"), await device(t, "Bob"), await device(t, "Cat")];
    const { conversation } = await ok(ann.person, "direct", { with: bob.me.id });
    const here = { conversation: conversation.id };
    await ok(ann.person, "msg:new", { ...here, text: "hi" });
    await ok(bob.person, "block", { person: ann.me.id });
    await refused(ann.person, "msg:new", { ...here, text: "hello?" }, "blocked");
    await ok(bob.person, "unblock", { person: ann.me.id });
    await ok(ann.person, "msg:new", { ...here, text: "hello again" });

    const heard = Inbox.of(cat.person, "msg:new");
    for (const [event, payload] of [
      ["history", {}], ["msg:new", { text: "me too" }], ["msg:edit", { seq: 1, text: "x" }], ["react", { seq: 1, emoji: "x" }],
      ["msg:delete", { seq: 1 }], ["read", { seq: 1 }], ["members", {}], ["typing", {}], ["receipts", { seq: 1 }],
    ]) {
      const absent = await refused(cat.person, event, { ...here, ...payload }, "not_found");
      const unknown = { ...here, ...payload, conversation: "01ARZ3NDEKTSV4RRFFQ69G5FAV" };
      assert.deepEqual(await refused(cat.person, event, unknown, "not_found"), absent, event);
    }
    await ok(cat.room, "msg:new", { text: "anybody?" });
    const own = await heard.next();
    assert.equal(own.text, "anybody?");
  });

  test("guests do not make groups", async (t) => {
    const [ann, bob] = [await device(t, "Ann"), await device(t, "Bob")];
    await refused(ann.person, "group", { with: [bob.me.id], title: "Us" }, "not_permitted");
  });
});

// Mostly waiting for leases to end.
describe("presence", { concurrency: true }, () => {
  test("is told at once to people who begin to share a conversation", async (t) => {
    const [ann, bob] = [await device(t, "Ann"), await device(t, "Bob")];
    const [toAnn, toBob] = [Inbox.of(ann.person, "presence"), Inbox.of(bob.person, "presence")];
    await ok(ann.person, "direct", { with: bob.me.id });
    const isOf = (who) => ({ person, status }) => person === who.me.id && status === "online";
    await toAnn.until(isOf(bob));
    await toBob.until(isOf(ann));
  });

  // That a device that polls is gone is known when its session has ended, which takes its time.
  for (const way of ways.filter(({ polls }) => !polls)) {
    test(`is seen by those who share a conversation, and merges devices, by ${way.name}`, async (t) => {
      const ann = await device(t, "Ann", undefined, way);
      const bob = await device(t, "Bob", undefined, way);
      await ok(ann.person, "direct", { with: bob.me.id });
      const seen = Inbox.of(ann.person, "presence");
      const status = (wanted) => seen.until((presence) => presence.person === bob.me.id && presence.status === wanted);

      await ok(bob.person, "status", { activity: "idle" });
      await status("away");
      const phone = await device(t, "Bob", bob.me.token, way);
      await status("online");
      await ok(phone.person, "status", { status: "busy" });
      await status("busy");
      await ok(phone.person, "status", { status: "invisible" });
      await status("offline");
      assert.deepEqual(await ok(bob.person, "status", {}), { status: "invisible" });
      await ok(phone.person, "status", { status: "auto" });
      await status("online");
      phone.socket.disconnect();
      bob.socket.disconnect();
      const gone = await status("offline");
      assert.ok(gone.seen > 0, JSON.stringify(gone));
    });
  }
});

describe("coming in", () => {
  test("a guest comes back as the same with the token that they were given, and as another without", async (t) => {
    const ann = await device(t, "Ann");
    const again = await device(t, "Ann", ann.me.token);
    const other = await device(t, "Ann");
    assert.equal(again.me.id, ann.me.id);
    assert.notEqual(other.me.id, ann.me.id);
    assert.equal(other.me.profile.guest, true);
    const refreshed = await ok(ann.person, "token:refresh", { token: again.me.token });
    assert.ok(refreshed.expires_s > Date.now() / 1000);
    await refused(ann.person, "token:refresh", { token: other.me.token }, "token_invalid");
  });

  test("topics of others and of what is not there are the same nothing", async (t) => {
    const ann = await device(t, "Ann");
    const bob = await device(t, "Bob");
    const topics = [
      `person:${COMMUNITY}/${bob.me.id}`, `person:${COMMUNITY}/nobody`, "person:other/nobody", "room:other/lobby",
      `room:${COMMUNITY}/nowhere`, "room:", "room:x",
    ];
    for (const topic of topics) await refusedJoin(ann.socket, topic, "not_found");
  });

  test("a bad token, an unknown community, no community and an unknown event are told apart", async (t) => {
    const code = async (params) => {
      const socket = connect(t, newest, throng.socket, { params });
      return (await answer(socket.channel(LOBBY).join())).response.code;
    };
    assert.equal(await code({ community: COMMUNITY, token: "x.y.z" }), "token_invalid");
    assert.equal(await code({}), "no_community");
    const elsewhere = connect(t, newest, throng.socket, { params: { community: "nowhere" } });
    await refusedJoin(elsewhere, "room:nowhere/lobby", "not_found");
    const ann = await device(t, "Ann");
    await refused(ann.room, "nonsense", {}, "unknown_event");
    await refused(ann.room, "conversations", {}, "unknown_event");
    await refused(ann.room, "msg:new", { text: "x", colour: "red" }, "bad_payload");
    const invalid = await refused(ann.room, "msg:new", { text: "a\u0000b" }, "invalid");
    assert.equal(invalid.details.fields[0].field, "text");
  });
});

async function tab(of, conversation) {
  const { conversations } = await ok(of.person, "conversations", {});
  const { unread, mentions, last } = conversations.find((line) => line.conversation.id === conversation.id);
  return { unread, mentions, last: last.seq };
}
