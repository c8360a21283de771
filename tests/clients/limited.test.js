// Tokens for some rooms, as a stock client sees them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Inbox } from "./harness/answers.js";
import { comeIn, ok, refused, refusedJoin, tokenOf, trustSite } from "./harness/messenger.js";
import { startThrong } from "./harness/process.js";

let throng;
before(async () => {
  throng = await startThrong();
  await trustSite(throng);
});
after(() => throng?.end());

test("a device whose token is for one room hears of that one alone, and the person's others of everything", async (t) => {
  const whole = await comeIn(t, throng, { token: tokenOf("ann") });
  const limited = await comeIn(t, throng, { token: tokenOf("ann", { rooms: ["lobby"] }) });
  const bob = await comeIn(t, throng, { token: tokenOf("bob") });
  const [everything, heard] = [whole, limited].map(({ person }) => Inbox.of(person, "msg:new"));
  const others = ["conversation:new", "presence", "invitation"].map((event) => Inbox.of(limited.person, event));
  const { conversation } = await ok(bob.person, "direct", { with: "ann" });
  await ok(bob.person, "msg:new", { conversation: conversation.id, text: "between us" });
  await everything.until(({ text }) => text === "between us");
  await ok(bob.person, "status", { status: "busy" });
  // What is told on one topic comes in its order.
  await ok(bob.room, "msg:new", { text: "for all" });
  assert.equal((await heard.next()).text, "for all");
  for (const inbox of others) assert.equal(inbox.length, 0);

  await refused(limited.person, "history", { conversation: conversation.id }, "not_found");
  await refused(limited.person, "typing", { conversation: conversation.id }, "not_found");
  await refused(limited.person, "search", { query: "us" }, "token_limited");
  const { conversations } = await ok(limited.person, "conversations", {});
  assert.deepEqual(conversations.map((line) => line.conversation.name), ["lobby"]);
});

test("a token opens no other room than its own, and is not replaced by one for others", async (t) => {
  const limited = await comeIn(t, throng, { token: tokenOf("cat", { rooms: ["lobby"] }) });
  await refusedJoin(limited.socket, "room:default/den", "not_found");
  await refused(limited.person, "token:refresh", { token: tokenOf("cat", { rooms: [] }) }, "token_invalid");
  await refused(limited.person, "token:refresh", { token: tokenOf("cat") }, "token_invalid");
  const { expires_s } = await ok(limited.person, "token:refresh", { token: tokenOf("cat", { rooms: ["lobby"] }) });
  assert.ok(expires_s > Date.now() / 1000);
});
