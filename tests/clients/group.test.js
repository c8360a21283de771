// A group of people: begun, talked in and left, as stock clients see it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Inbox } from "./harness/answers.js";
import { comeIn, ok, refused, tokenOf, trustSite, ways } from "./harness/messenger.js";
import { startThrong } from "./harness/process.js";

let throng;
before(async () => {
  throng = await startThrong();
  await trustSite(throng);
});
after(() => throng?.end());

for (const { name, client, polls } of ways) {
  test(`${name}: what is said in a group reaches its people, wherever they are, and nobody else`, async (t) => {
    const named = (person) => `${person}-${ways.findIndex((way) => way.name === name)}`;
    const come = (person) => comeIn(t, throng, { token: tokenOf(named(person)) }, { client, polls });
    const [ann, bob, cat, dan] = [await come("ann"), await come("bob"), await come("cat"), await come("dan")];
    const begun = [bob, cat].map(({ person }) => Inbox.of(person, "conversation:new"));
    const { conversation } = await ok(ann.person, "group", { with: [named("bob"), named("cat")], title: "Us" });
    assert.deepEqual([conversation.kind, conversation.title, conversation.members], ["group", "Us", 3]);
    for (const inbox of begun) assert.equal((await inbox.next()).conversation.id, conversation.id);

    const [annHears, catHears, danHears] = [ann, cat, dan].map(({ person }) => Inbox.of(person, "msg:new"));
    const here = { conversation: conversation.id };
    await ok(bob.person, "msg:new", { ...here, text: "among us" });
    for (const inbox of [annHears, catHears]) assert.equal((await inbox.next()).text, "among us");
    const lineOf = async ({ person }) => {
      const { conversations } = await ok(person, "conversations");
      return conversations.find((line) => line.conversation.id === conversation.id);
    };
    assert.deepEqual([(await lineOf(cat)).unread, (await lineOf(bob)).unread], [1, 0]);
    assert.equal(await lineOf(dan), undefined);
    await refused(dan.person, "history", here, "not_found");
    await refused(dan.person, "msg:new", { ...here, text: "let me in" }, "not_found");

    const left = Inbox.of(ann.person, "member:out");
    await ok(cat.person, "leave", here);
    assert.deepEqual(await left.next(), { ...here, person: named("cat"), why: "left" });
    await refused(cat.person, "msg:new", { ...here, text: "one more" }, "not_found");
    await ok(ann.person, "msg:new", { ...here, text: "the two of us" });
    // What is told on one topic comes in its order.
    await ok(ann.room, "msg:new", { text: "for all" });
    for (const inbox of [catHears, danHears]) assert.equal((await inbox.next()).text, "for all");
  });
}
