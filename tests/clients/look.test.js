// How a community looks, as stock clients are told it and as the page shows it; and a site's own page that asks the API.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { Inbox } from "./harness/answers.js";
import { COMMUNITY, comeIn, tokenOf, trustSite, ways } from "./harness/messenger.js";
import { enterAs, ROOM } from "./harness/room-page.js";
import { browser, setStage, throng } from "./harness/stage.js";

setStage();

const LOOK = { color: "#d2458a", logo_url: "https://acme.example/logo.svg", locale: "pt-BR" };
const PLAIN = { name: "Throng", look: { color: null, logo_url: null, locale: null } };

async function change(settings) {
  await throng.operate("PUT", `/communities/${COMMUNITY}`, settings);
}

test("whoever is connected is told how their community looks, when they come and when it changes", async (t) => {
  const people = [];
  for (const { client, polls } of ways) people.push(await comeIn(t, throng, { name: "Gil" }, { client, polls }));
  for (const { lobby, home } of people) assert.deepEqual([lobby.community, home.community], [PLAIN, PLAIN]);
  const topics = people.flatMap(({ room, person }) => [room, person]);
  const told = topics.map((topic) => Inbox.of(topic, "community:changed"));
  await change({ name: "Acme", look: LOOK });
  for (const each of told) assert.deepEqual(await each.next(), { community: { name: "Acme", look: LOOK } });
  const late = await comeIn(t, throng, { name: "Hal" });
  assert.deepEqual(late.lobby.community, { name: "Acme", look: LOOK });
});

test("the page takes the community's name and colour while it is open", async () => {
  const page = await enterAs(browser, `${throng.page}${ROOM}`, "Ann");
  assert.equal(await page.title(), "Lobby · Throng");
  const accent = () =>
    page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement("i"));
      probe.style.color = "var(--accent)";
      const color = getComputedStyle(probe).color;
      probe.remove();
      return color;
    });
  const plain = await accent();
  await change({ name: "Acme", look: { color: "#ffee00" } });
  await page.waitForFunction(() => document.title === "Lobby · Acme");
  // As dark as text on a light ground has to be.
  assert.match(await accent(), /^oklch\(0\.5 /);
  await change({ name: "Acme" });
  await page.waitForFunction(() => !document.documentElement.classList.contains("own-color"));
  assert.equal(await accent(), plain);
  assert.deepEqual(browser.complaints, []);
});

test("a site's page asks the API if the community names it, and reads nothing if it does not", async (t) => {
  const site = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html>"));
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  t.after(() => site.close());
  const origin = `http://localhost:${site.address().port}`;
  await trustSite(throng);
  const page = await browser.open(`${origin}/`);
  const path = `${throng.page}api/v1/communities/${COMMUNITY}/conversations/room:lobby`;
  const ask = (method, way, body) =>
    page.evaluate(
      async ([method, url, token, body]) => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        try {
          const response = await fetch(url, { method, headers, body: body === undefined ? body : JSON.stringify(body) });
          return [response.status, await response.json()];
        } catch {
          return "nothing can be read";
        }
      },
      [method, `${path}${way}`, tokenOf("ann"), body],
    );
  assert.equal(await ask("GET", "/messages"), "nothing can be read");
  await change({ name: "Throng", origins: [origin] });
  assert.equal((await ask("PUT", "/members/ann", {}))[0], 200);
  const [status, sent] = await ask("POST", "/messages", { text: "from the site's page" });
  assert.deepEqual([status, sent.text], [201, "from the site's page"]);
  const [wrong, problem] = await ask("GET", "/messages?limit=many");
  assert.deepEqual([wrong, problem.code], [422, "invalid"], "it reads errors, too");
  await change({ name: "Throng", origins: ["https://elsewhere.example"] });
  assert.equal(await ask("GET", "/messages"), "nothing can be read");
});
