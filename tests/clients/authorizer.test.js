// A community's own site, asked whether somebody may connect, join or send: what a stock client sees of its answers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, afterEach, before, test } from "node:test";
import { answer, Inbox } from "./harness/answers.js";
import { COMMUNITY, comeIn, firstJoin, isRefused, LOBBY, ok, refused, tokenOf, trustSite } from "./harness/messenger.js";
import { startThrong } from "./harness/process.js";

const AUTHORIZER = `/communities/${COMMUNITY}/authorizer`;
const ALLOWED = { allow: true };

let throng;
let site;
before(async () => {
  // The site is on this very machine, which is no public address.
  throng = await startThrong({ THRONG_SITES_NETWORKS: "127.0.0.0/8" });
  await trustSite(throng);
});
after(() => throng?.end());
afterEach(async () => {
  await throng.operate("DELETE", AUTHORIZER);
  await site.end();
});

/** A host site; `judge` gives the answer to a question, at once or later. */
async function openSite(judge, settings = {}) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const question = JSON.parse(Buffer.concat(parts).toString());
    asked.push(question);
    response.setHeader("content-type", "application/json").end(JSON.stringify(await judge(question)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}/may`;
  site = {
    asked,
    async end() {
      server.closeAllConnections();
      server.close();
    },
  };
  await throng.operate("PUT", AUTHORIZER, { url, actions: ["connect", "join", "send"], ...settings });
}

let people = 0;

/** Somebody whom no other test knows. */
function newcomer() {
  people += 1;
  return `person-${people}`;
}

function come(t, person, topic = LOBBY) {
  return firstJoin(t, throng, { token: tokenOf(person) }, topic);
}

test("who may not connect is told why, and nobody else is kept out", async (t) => {
  const [ann, bob] = [newcomer(), newcomer()];
  await openSite(({ person }) => (person === ann ? { allow: false, reason: "members only" } : ALLOWED));
  const { details } = isRefused(await come(t, ann), "refused_by_site", "join");
  assert.equal(details.reason, "members only");
  isRefused(await come(t, ann, `person:${COMMUNITY}/${ann}`), "refused_by_site", "own topic");
  assert.equal((await come(t, bob)).status, "ok");
  assert.deepEqual(site.asked[0], { community: COMMUNITY, person: ann, action: "connect", object: COMMUNITY });
  // Ann's sockets may have come again meanwhile.
  const last = site.asked.findLast(({ person }) => person === bob);
  assert.deepEqual(last, { community: COMMUNITY, person: bob, action: "join", object: LOBBY });
});

test("who may not join a room comes in elsewhere, and into the room when the site has changed its mind", async (t) => {
  const ann = newcomer();
  let allow = false;
  await openSite(({ action }) => (action === "join" ? { allow, ttl: 600 } : ALLOWED));
  isRefused(await come(t, ann), "refused_by_site", "room");
  assert.equal((await come(t, ann, `person:${COMMUNITY}/${ann}`)).status, "ok");
  allow = true;
  isRefused(await come(t, ann), "refused_by_site", "room, by the answer that is remembered");
  await throng.operate("DELETE", `/communities/${COMMUNITY}/people/${ann}/permissions`);
  assert.equal((await come(t, ann)).status, "ok");
});

test("who may not send is not heard, and goes on reading", async (t) => {
  await openSite(({ action, person }) => ({ allow: action !== "send" || person !== "muzzled" }));
  const ann = await comeIn(t, throng, { token: tokenOf("muzzled") });
  const bob = await comeIn(t, throng, { token: tokenOf(newcomer()) });
  const heard = Inbox.of(bob.room, "msg:new");
  await refused(ann.room, "msg:new", { text: "psst" }, "refused_by_site");
  await refused(ann.person, "msg:new", { conversation: ann.lobby.conversation.id, text: "psst" }, "refused_by_site");
  const { seq } = await ok(bob.room, "msg:new", { text: "quiet here" });
  assert.equal((await heard.next()).seq, seq);
  await refused(ann.room, "react", { seq, emoji: "x" }, "refused_by_site");
  const { messages } = await ok(ann.room, "history", { limit: 1 });
  assert.deepEqual(messages.map(({ text }) => text), ["quiet here"]);
});

test("messages stay in the order in which they were sent, however long each answer takes", async (t) => {
  await openSite(async ({ action }) => {
    if (action === "send") await new Promise((resolve) => { setTimeout(resolve, Math.random() * 40); });
    return ALLOWED;
  });
  const ann = await comeIn(t, throng, { token: tokenOf(newcomer()) });
  const sent = [];
  // Fewer than may wait for an answer at once.
  for (let n = 0; n < 20; n += 1) {
    sent.push(answer(ann.room.push("msg:new", { text: `${n}` })));
    // Equal questions at once are one: some come while the last one is under way, and some after it.
    if (n % 4 === 3) await ok(ann.room, "history", { limit: 1 });
  }
  const places = (await Promise.all(sent)).map(({ response }) => response.seq);
  assert.deepEqual(places, places.map((_, n) => places[0] + n));
});

test("a site that is away counts as its owner says", async (t) => {
  await openSite(() => ALLOWED);
  await site.end();
  isRefused(await come(t, newcomer()), "site_unavailable", "join");
  await openSite(() => ALLOWED, { unanswered: "allow" });
  await site.end();
  assert.equal((await come(t, newcomer())).status, "ok");
});
