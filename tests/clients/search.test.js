// Searching on the page, in headless Chromium: what is found, how it leads there, and what is said where nothing is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, picture, WIDE } from "./harness/browser.js";
import { COMMUNITY, comeIn, ok } from "./harness/messenger.js";
import { enterAs, field, fits, hasFocus, holds, isOnline, messageOf, ROOM, say, seesMessage, status, top } from "./harness/room-page.js";
import { pale } from "./harness/sight.js";
import { browser, setStage, throng } from "./harness/stage.js";

setStage();

test("messages are found by their words, wherever one may read them, and lead there", async (t) => {
  const ann = await enter("Ann", WIDE);
  const bob = await comeIn(t, throng, { name: "Bob" });
  await ok(bob.room, "msg:new", { text: "The Key lies under the mat, as always.\nDo not tell." });
  await fill(bob, 110);
  const { conversation } = await ok(bob.person, "direct", { with: await other(bob) });
  await ok(bob.person, "msg:new", { conversation: conversation.id, text: "I have two keys, <b>one</b> is yours" });
  await ann.reload();
  await seesMessage(ann, "Filler 109");

  await ann.keyboard.press("Control+k");
  await hasFocus(ann, "Search for");
  await ann.keyboard.type("key");
  await words(ann, /^2 messages found$/);
  assert.deepEqual(await found(ann), [
    "Bob in a direct message with Bob: I have two keys, <b>one</b> is yours",
    "Bob in Lobby: The Key lies under the mat, as always. Do not tell.",
  ]);
  assert.deepEqual(await ann.locator(".hit mark").allTextContents(), ["keys", "Key"]);
  assert.equal(await ann.locator(".hit b").count(), 0, "what was said is text");
  await picture(ann, "search-found");
  assert.equal(await messageOf(ann, "The Key lies under the mat, as always.\nDo not tell.").count(), 0);
  await ann.keyboard.press("ArrowDown");
  await ann.keyboard.press("ArrowDown");
  await ann.keyboard.press("Enter");
  await ann.getByRole("dialog").waitFor({ state: "detached" });
  await ann.locator(".message-sought", { hasText: "The Key lies" }).waitFor();
  await picture(ann, "search-led-there");

  // The focus is on the message: nothing is written there.
  await ann.keyboard.press("/");
  await ann.keyboard.type("keys yours");
  await words(ann, /^1 message found$/);
  await ann.keyboard.press("ArrowDown");
  await ann.keyboard.press("Enter");
  await ann.getByRole("button", { name: "Back to Lobby" }).waitFor();
  await ann.locator(".message-sought", { hasText: "I have two keys" }).waitFor();
  assert.deepEqual(browser.complaints, []);
});

test("a slash is a slash where one writes, and Escape goes back there", async () => {
  const ann = await enter("Ann");
  await field(ann).pressSequentially("and/or");
  await holds(field(ann), "and/or");
  await ann.keyboard.press("Control+k");
  await hasFocus(ann, "Search for");
  await ann.keyboard.type("either");
  await ann.keyboard.press("Control+k");
  await ann.keyboard.type("or");
  assert.equal(await searchField(ann).inputValue(), "or", "the same keys select what stands there");
  await ann.keyboard.press("Escape");
  await ann.getByRole("dialog").waitFor({ state: "detached" });
  await ann.locator("textarea:focus").waitFor();
});

test("what is found comes in pages, and from one conversation alone where that is wanted", async (t) => {
  const ann = await enter("Ann", WIDE);
  const bob = await comeIn(t, throng, { name: "Bob" });
  for (let n = 0; n < 45; n += 1) await ok(bob.room, "msg:new", { text: `needle ${n}` });
  const { conversation } = await ok(bob.person, "direct", { with: await other(bob) });
  await ok(bob.person, "msg:new", { conversation: conversation.id, text: "a needle in private" });

  await ann.getByRole("button", { name: "Search messages" }).click();
  await searchField(ann).fill("needle");
  await words(ann, /^The newest 20 messages$/);
  assert.match((await found(ann))[0], /a needle in private$/);
  await ann.getByLabel("Only in Lobby").check();
  await words(ann, /^The newest 20 messages$/);
  await ann.waitForFunction(() => document.querySelector(".hit-text").textContent === "needle 44");
  await ann.getByRole("button", { name: "Older messages" }).click();
  await words(ann, /^The newest 40 messages$/);
  await ann.getByRole("button", { name: "Older messages" }).click();
  await words(ann, /^45 messages found$/);
  await ann.getByRole("button", { name: "Older messages" }).waitFor({ state: "detached" });
  const texts = await ann.locator(".hit-text").allTextContents();
  assert.deepEqual(texts, Array.from({ length: 45 }, (_, at) => `needle ${44 - at}`));
  await picture(ann, "search-pages");
});

test("a hit in another room leads to its page, and to the message there", async () => {
  await throng.operate("POST", `/communities/${COMMUNITY}/rooms`, { name: "den", title: "The den", kind: "public" });
  const ann = await enterAs(browser, `${throng.page}c/default/r/den`, "Ann");
  await say(ann, "a word that is nowhere else");
  await seesMessage(ann, "a word that is nowhere else");
  for (let n = 0; n < 60; n += 1) await say(ann, `more ${n}`);
  await seesMessage(ann, "more 59");
  await ann.goto(`${throng.page}${ROOM}`);
  await isOnline(ann);
  await ann.keyboard.press("Control+k");
  await ann.keyboard.type("nowhere");
  await words(ann, /^1 message found$/);
  await ann.getByRole("link", { name: /Ann in The den/ }).click();
  await ann.waitForURL(`${throng.page}c/default/r/den`);
  await ann.locator(".message-sought", { hasText: "a word that is nowhere else" }).waitFor();
  assert.ok((await top(ann, "a word that is nowhere else")) > 0);
});

test("a hit in a conversation that is far down the list opens it", async (t) => {
  const ann = await enter("Ann", WIDE);
  const bob = await comeIn(t, throng, { name: "Bob" });
  const me = await other(bob);
  const { conversation } = await ok(bob.person, "direct", { with: me });
  await ok(bob.person, "msg:new", { conversation: conversation.id, text: "long ago" });
  for (let n = 0; n < 52; n += 1) {
    const { person } = await comeIn(t, throng, { name: `Person ${n}` });
    await ok(person, "direct", { with: me });
  }
  await ann.reload();
  await isOnline(ann);
  await ann.getByRole("button", { name: "More conversations" }).waitFor();
  await ann.keyboard.press("Control+k");
  await ann.keyboard.type("long ago");
  await ann.locator(".hit", { hasText: "in a direct message with Bob" }).click();
  await ann.locator(".message-sought", { hasText: "long ago" }).waitFor();
});

test("why nothing is found is said in words", async () => {
  const way = { answer: undefined };
  const ann = await enterAs(browser, `${throng.page}${ROOM}`, "Ann", {}, /^Online$/, (page) =>
    page.routeWebSocket(/\/socket\/websocket/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((text) => {
        const [join, ref, topic, event] = JSON.parse(String(text));
        if (event !== "search" || way.answer === undefined) server.send(text);
        else socket.send(JSON.stringify([join, ref, topic, "phx_reply", { status: "error", response: way.answer }]));
      });
    }),
  );
  await ann.keyboard.press("Control+k");
  await ann.keyboard.type("?!");
  await words(ann, /^Enter a word: the search needs/);
  await searchField(ann).fill("ke");
  await words(ann, /^No results. One or two letters only match whole words/);
  await searchField(ann).fill("kept nowhere");
  await words(ann, /^No results. A message must contain all/);
  await searchField(ann).fill("ö".repeat(200));
  await words(ann, /^The search text is too long/);
  await picture(ann, "search-refused");

  const fields = [{ field: "query", code: "too_broad", message: "finds too much" }];
  way.answer = { code: "invalid", message: "invalid", details: { fields } };
  await searchField(ann).fill("the");
  await words(ann, /^Too many messages match/);
  way.answer = { code: "rate_limited", message: "too much", details: { retry_after_ms: 500 } };
  await searchField(ann).fill("the same");
  await words(ann, /^Too many requests in a minute/);
  way.answer = undefined;
  await ann.keyboard.press("Enter");
  await words(ann, /^No results/);

  await throng.stop();
  await searchField(ann).fill("meanwhile");
  await words(ann, /^You are offline/);
  await throng.start();
  await words(ann, /^No results/);
});

test("a phone searches on a page of its own", async (t) => {
  const bob = await comeIn(t, throng, { name: "Bob, whose name is rather long for a guest" });
  await ok(bob.room, "msg:new", { text: `${"What is said before it takes its place. ".repeat(12)}Here is the needle, ${"and so on ".repeat(30)}` });
  for (const colorScheme of ["light", "dark"]) {
    const ann = await enter("Ann", { ...PHONE, viewport: { width: 320, height: 640 }, colorScheme });
    await picture(ann, `search-phone-header-${colorScheme}`);
    await ann.getByRole("button", { name: "Search messages" }).tap();
    await searchField(ann).fill("needle");
    await words(ann, /^1 message found$/);
    await ann.locator(".hit mark", { hasText: "needle" }).waitFor();
    await picture(ann, `search-phone-${colorScheme}`);
    await fits(ann);
    assert.deepEqual(await pale(ann), []);
    await ann.getByRole("dialog").getByRole("button", { name: "Close" }).tap();
    await ann.getByRole("dialog").waitFor({ state: "detached" });
    await status(ann, /^Online$/);
  }
});

function enter(name, options = {}) {
  return enterAs(browser, `${throng.page}${ROOM}`, name, options);
}

function searchField(page) {
  return page.getByRole("searchbox", { name: "Search for" });
}

/** Waits until the search says that. */
function words(page, text) {
  return page.locator(".search-words").filter({ hasText: text }).waitFor();
}

/** What is found, as "name place: text", once the page knows who everybody is and where it stands. */
async function found(page) {
  await page.waitForFunction(() => {
    const heads = [...document.querySelectorAll(".hit-name, .hit-place")];
    return heads.every(({ textContent }) => !textContent.includes("…"));
  });
  return page.locator(".hit").evaluateAll((hits) =>
    hits.map((hit) => {
      const part = (name) => hit.querySelector(name).textContent;
      return `${part(".hit-name")} ${part(".hit-place")}: ${part(".hit-text")}`;
    }),
  );
}

/** Says so many messages: "Filler 0", "Filler 1", … */
async function fill({ room }, count) {
  for (let n = 0; n < count; n += 1) await ok(room, "msg:new", { text: `Filler ${n}` });
}

/** The other member of the lobby. */
async function other({ room, me }) {
  const { members } = await ok(room, "members", {});
  return members.find(({ person }) => person !== me.id).person;
}
