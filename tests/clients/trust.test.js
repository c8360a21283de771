// Whom a server believes: keys of each algorithm, keys that a site publishes, tokens that end, pages of sites, and people
// of another community.
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import WebSocket from "ws";
import { answer, Inbox } from "./harness/answers.js";
import { connect, newest } from "./harness/clients.js";
import { repeatedly } from "./harness/deadline.js";
import {
  COMMUNITY, comeIn, firstJoin, isRefused, LOBBY, ok, refusedJoin, signedToken, tokenOf, trustSite,
} from "./harness/messenger.js";
import { startThrong } from "./harness/process.js";

const OTHER = "other";
/** How long a server goes on accepting a token that has ended. */
const LEEWAY_S = 30;

let throng;
before(async () => {
  // The site that publishes keys is on this very machine, which is no public address.
  throng = await startThrong({ THRONG_SITES_NETWORKS: "127.0.0.0/8", THRONG_SOCKET_ORIGINS: "any" });
  await trustSite(throng);
});
after(() => throng?.end());

/** How each kind of key is made, and how it signs. */
const algorithms = {
  RS256: [() => generateKeyPairSync("rsa", { modulusLength: 2048 }), (key) => (text) => sign("sha256", text, key)],
  ES256: [
    () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
    (key) => (text) => sign("sha256", text, { key, dsaEncoding: "ieee-p1363" }),
  ],
  EdDSA: [() => generateKeyPairSync("ed25519"), (key) => (text) => sign(null, text, key)],
};

/** A key of a site: its public half in both forms, and the tokens that it signs. */
function siteKey(algorithm, kid) {
  const [make, signerOf] = algorithms[algorithm];
  const { publicKey, privateKey } = make();
  return {
    pem: publicKey.export({ type: "spki", format: "pem" }),
    jwk: { ...publicKey.export({ format: "jwk" }), kid, use: "sig" },
    tokenOf: (person) => signedToken({ alg: algorithm, kid }, signerOf(privateKey), person),
  };
}

// Side by side: two of them wait for ten seconds to pass.
describe("a server believes", { concurrency: true }, () => {
  for (const algorithm of Object.keys(algorithms)) {
    test(`a site's ${algorithm} key lets in whose tokens it signed, and nobody else's`, async (t) => {
      const kid = `of-${algorithm}`;
      const key = siteKey(algorithm, kid);
      const file = join(throng.folder, `${kid}.pem`);
      writeFileSync(file, key.pem);
      const said = throng.command(
        "key", "trust", COMMUNITY, "--name", kid, "--algorithm", algorithm, "--kid", kid, "--file", file,
      );
      assert.match(said, /now accepted/);
      const { response } = await firstJoin(t, throng, { token: key.tokenOf("ann") });
      assert.equal(response.me?.id, "ann", JSON.stringify(response));
      const byItsText = (text) => createHmac("sha256", key.pem).update(text).digest();
      const forged = signedToken({ alg: "HS256", kid }, byItsText, "ann");
      for (const token of [siteKey(algorithm, kid).tokenOf("ann"), forged]) {
        isRefused(await firstJoin(t, throng, { token }), "token_invalid", algorithm);
      }
    });
  }

  test("the keys that a site publishes are fetched when a token names one, and again for a newer one", async (t) => {
    const [first, second] = [siteKey("ES256", "published-1"), siteKey("RS256", "published-2")];
    const published = [first.jwk];
    const site = createServer((_, response) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: published }));
    }).listen(0, "127.0.0.1");
    await once(site, "listening");
    const { port } = site.address();
    t.after(() => site.close());
    const url = `http://127.0.0.1:${port}/keys`;
    const said = throng.command("key", "trust-published", COMMUNITY, "--name", "published", "--url", url);
    assert.match(said, /now accepted/);

    const { response } = await firstJoin(t, throng, { token: first.tokenOf("ann") });
    assert.equal(response.me?.id, "ann", JSON.stringify(response));
    const params = { community: COMMUNITY, token: second.tokenOf("bob") };
    const socket = connect(t, newest, throng.socket, { params });
    await refusedJoin(socket, LOBBY, "token_invalid");
    published.push(second.jwk);
    // An unknown key is asked for every ten seconds.
    await repeatedly(async () => {
      const room = socket.channel(LOBBY);
      const { status } = await answer(room.join());
      if (status !== "ok") room.leave();
      assert.equal(status, "ok");
    });
  });

  test("who comes while a site's keys cannot be fetched is told to come again", async (t) => {
    const community = "unreachable";
    await throng.operate("POST", "/communities", { id: community, settings: { name: community } });
    // Nobody listens there.
    const purpose = { kind: "jwks", url: "http://127.0.0.1:1/keys" };
    await throng.operate("POST", `/communities/${community}/keys`, { name: "published", purpose });
    const token = siteKey("EdDSA", "anything").tokenOf("ann");
    const topic = `room:${community}/lobby`;
    isRefused(await firstJoin(t, throng, { community, token }, topic), "token_unverifiable", topic);
  });

  test("a connection ends with its token, unless it was given a newer one", async (t) => {
    const now = Math.floor(Date.now() / 1000);
    const ending = { token: tokenOf("cat", { iat: now - 60, exp: now + 10 - LEEWAY_S }) };
    const [ends, stays] = [await comeIn(t, throng, ending), await comeIn(t, throng, ending)];
    const [ended, stayed] = [ends, stays].map(({ socket }) => {
      const closes = new Inbox("the connection's end");
      socket.onClose(({ code }) => closes.add(code));
      return closes;
    });
    await ok(stays.person, "token:refresh", { token: tokenOf("cat") });
    assert.equal(await ended.next(), 4401);
    await ok(stays.room, "msg:new", { text: "still here" });
    assert.equal(stayed.length, 0);
    isRefused(await firstJoin(t, throng, ending), "token_expired", "the token that has ended");
  });

  test("whoever has the same name in another community, and rooms of the same names, is nobody there", async (t) => {
    await throng.operate("POST", "/communities", { id: OTHER, settings: { name: OTHER } });
    await throng.operate("POST", `/communities/${OTHER}/rooms`, { name: "lobby", kind: "public", title: "Lobby" });
    await trustSite(throng, OTHER);
    const here = await comeIn(t, throng, { token: tokenOf("eve") });
    const there = await comeIn(t, throng, { community: OTHER, token: tokenOf("eve", { aud: OTHER }) });
    assert.deepEqual([here.me.id, there.me.id], ["eve", "eve"]);
    for (const [{ socket }, community] of [[here, OTHER], [there, COMMUNITY]]) {
      for (const topic of [`room:${community}/lobby`, `person:${community}/eve`]) {
        await refusedJoin(socket, topic, "not_found");
      }
    }
    isRefused(await firstJoin(t, throng, { community: OTHER, token: tokenOf("eve") }, `room:${OTHER}/lobby`),
      "token_invalid", "a token of one community in the other");

    const [hears, others] = [here, there].map(({ room }) => Inbox.of(room, "msg:new"));
    await ok(there.room, "msg:new", { text: "there" });
    assert.equal((await others.next()).text, "there");
    await ok(here.room, "msg:new", { text: "here" });
    assert.equal((await hears.next()).text, "here");
    assert.deepEqual([hears.length, others.length], [0, 0]);
  });

  test("a page comes in only from a site that the community lists, and a program without a page always", async (t) => {
    const [listed, unlisted] = ["https://site.example", "https://elsewhere.example"];
    const come = (origin) => {
      class OfPage extends WebSocket {
        constructor(address, protocols) {
          super(address, protocols, origin === undefined ? {} : { origin });
        }
      }
      const params = { community: COMMUNITY, token: tokenOf("fay") };
      return answer(connect(t, newest, throng.socket, { params, transport: OfPage }).channel(LOBBY).join());
    };
    const path = `/communities/${COMMUNITY}`;
    const comeAll = async () => {
      const answers = await Promise.all([listed, unlisted, undefined].map(come));
      return answers.map(({ status }) => status);
    };
    assert.deepEqual(await comeAll(), ["ok", "ok", "ok"]);
    await throng.operate("PUT", path, { name: "Throng", origins: [listed] });
    t.after(() => throng.operate("PUT", path, { name: "Throng" }));
    assert.deepEqual(await comeAll(), ["ok", "error", "ok"]);
    isRefused(await come(unlisted), "origin_refused", unlisted);
  });
});
