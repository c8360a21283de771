// The page of a room in headless Chromium: people talk, reload, leave, lose the server and find it again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, picture } from "./harness/browser.js";
import { comeIn } from "./harness/messenger.js";
import { enterAs, fits, hasFocus, isOnline, reads, say, seesMessage, status, talk, top } from "./harness/room-page.js";
import { browser, setStage, throng } from "./harness/stage.js";

setStage();

test("two people talk, and see each other", async () => {
  const ann = await enter("Ann");
  const bob = await enter("Bob");
  await seesPeople(ann, ["Ann you", "Bob"]);
  await seesPeople(bob, ["Ann", "Bob you"]);

  await say(ann, "Hello Bob");
  await seesMessage(bob, "Hello Bob");
  await say(bob, "Hello Ann\nin two lines");
  await seesMessage(ann, "Hello Ann\nin two lines");
  await reads(ann, ["Ann: Hello Bob", "Bob: Hello Ann\nin two lines"]);
  await reads(bob, ["Ann: Hello Bob", "Bob: Hello Ann\nin two lines"]);
  assert.deepEqual(browser.complaints, []);
});

test("a reload keeps the name and the place", async () => {
  const ann = await enter("Ann");
  const bob = await enter("Bob");
  await ann.reload();
  await isOnline(ann);
  await seesPeople(ann, ["Ann you", "Bob"]);
  await seesPeople(bob, ["Ann", "Bob you"]);
  await say(bob, "Still there?");
  await seesMessage(ann, "Still there?");
  await say(ann, "Yes");
  await seesMessage(bob, "Yes");
});

test("names and messages with markup are shown as text", async () => {
  const name = `<b id="bad">Eve</b>&amp;`;
  const body = `<img src=x onerror="window.harmed=1"><script>window.harmed=1</script> &lt;`;
  const ann = await enter("Ann");
  const eve = await enter(name);
  await say(eve, body);
  for (const page of [ann, eve]) {
    await seesMessage(page, body);
    await reads(page, [`${name}: ${body}`]);
    assert.equal(await page.locator("#bad, .messages img, .messages script").count(), 0);
    assert.equal(await page.evaluate(() => window.harmed), undefined);
  }
  await seesPeople(ann, [`${name}`, "Ann you"]);
  assert.deepEqual(browser.complaints, []);
});

test("who comes later finds what was said, page by page, by scrolling", async () => {
  const ann = await enter("Ann");
  for (let n = 0; n < 60; n += 1) await say(ann, `message ${n}`);
  await seesMessage(ann, "message 59");
  const bob = await enter("Bob");
  await seesMessage(bob, "message 59");
  assert.equal((await talk(bob)).length, 50);
  // In one step, before the page can bring more.
  const read = await bob.getByRole("log").evaluate((log) => {
    log.scrollTo(0, 0);
    return [...log.querySelectorAll(".message-body")]
      .find(({ textContent }) => textContent === "message 10")
      .getBoundingClientRect().top;
  });
  await seesMessage(bob, "message 0");
  assert.ok(Math.abs((await top(bob, "message 10")) - read) <= 1, "what is being read stays where it is");
  await reads(bob, Array.from({ length: 60 }, (_, n) => `Ann: message ${n}`));
  await bob.getByText("This is where Lobby begins.").waitFor();
});

test("another tab of the same browser is the same guest", async () => {
  const ann = await enter("Ann");
  const second = await ann.context().newPage();
  await second.goto(throng.page);
  await isOnline(second);
  await seesPeople(second, ["Ann you"]);
  await say(second, "from the other tab");
  await seesMessage(ann, "from the other tab");
  await seesPeople(ann, ["Ann you"]);
});

test("a room of its own has a page of its own, and what is none has a word for it", async () => {
  const ann = await enter("Ann", {}, "c/default/r/nowhere", /^Cannot join/);
  await ann.getByRole("alert").getByText(/^This room does not exist, or you have no access to it/).waitFor();
  const missing = await ann.request.get(`${throng.page}c/default/r/UPPER`);
  assert.equal(missing.status(), 404);
});

test("who closes the page is gone from the list", async () => {
  const ann = await enter("Ann");
  const bob = await enter("Bob");
  await seesPeople(ann, ["Ann you", "Bob"]);
  await bob.close();
  await seesPeople(ann, ["Ann you"]);
});

test("a new name is a new entry in the list, and the talk stays", async () => {
  const ann = await enter("Ann");
  const bob = await enter("Bob");
  await say(ann, "before");
  await ann.getByRole("button", { name: "Change your name" }).click();
  await ann.getByRole("textbox", { name: "Your name" }).fill("Anna");
  await ann.keyboard.press("Enter");
  await seesPeople(bob, ["Anna", "Bob you"]);
  await isOnline(ann);
  await say(ann, "after");
  await seesMessage(bob, "after");
  await reads(ann, ["Ann: before", "Anna: after"]);
  await reads(bob, ["Ann: before", "Anna: after"]);
});

test("the keyboard is enough", async () => {
  const page = await open();
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("Ann");
  await page.keyboard.press("Enter");
  await isOnline(page);
  await page.locator("textarea:focus").waitFor();
  await page.keyboard.type("one");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("two");
  await page.keyboard.press("Enter");
  await seesMessage(page, "one\ntwo");

  await page.keyboard.press("Shift+Tab");
  await hasFocus(page, "Messages");
  await page.keyboard.press("Shift+Tab");
  await hasFocus(page, "Change your name, Ann");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Change your name" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await hasFocus(page, "Change your name, Ann");
});

test("an empty name is refused with a word", async () => {
  const page = await open();
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByText("Please enter a name.").waitFor();
});

test("a restart of the server is shown and survived, on a WebSocket again, and nothing is missed", async () => {
  const ann = await enter("Ann");
  await say(ann, "before");
  await seesMessage(ann, "before");
  await throng.stop();
  await status(ann, /^Offline/);
  await ann.getByLabel("Message", { exact: true }).fill("typed meanwhile");
  assert.ok(await ann.getByRole("button", { name: "Send", exact: true }).isDisabled());
  await picture(ann, "offline");

  await throng.start();
  await status(ann, /^Online$/);
  await ann.keyboard.press("Enter");
  await seesMessage(ann, "typed meanwhile");
  await seesPeople(ann, ["Ann you"]);
  await reads(ann, ["Ann: before", "Ann: typed meanwhile"]);
});

test("without WebSockets the page long-polls", async () => {
  const ann = await enter("Ann");
  const bob = await open({}, (page) => page.addInitScript(refuseWebSockets));
  await bob.getByRole("textbox", { name: "Your name" }).fill("Bob");
  await bob.keyboard.press("Enter");
  await status(bob, /long-polling/);
  await seesPeople(bob, ["Ann", "Bob you"]);
  await say(bob, "from a poll");
  await seesMessage(ann, "from a poll");
  await say(ann, "from a socket");
  await seesMessage(bob, "from a socket");
});

test("a crowd is a number", async (t) => {
  for (let here = 0; here < 510; here += 15) {
    await Promise.all(Array.from({ length: 15 }, (_, at) => comeIn(t, throng, { name: `Person ${here + at}` })));
  }
  const ann = await enter("Ann");
  await ann.getByText("people are here, too many to list.").waitFor();
  await picture(ann, "crowd");
});

test("the page asks nobody but its own server, and keeps to its content security policy", async () => {
  const ann = await open();
  await ann.getByRole("textbox", { name: "Your name" }).fill("Ann");
  await ann.keyboard.press("Enter");
  await isOnline(ann);
  const response = await ann.request.get(throng.page);
  const policy = response.headers()["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*/);
  assert.deepEqual([...new Set(browser.requests.map((url) => `${new URL(url).origin}/`))], [throng.page]);
  assert.deepEqual(browser.complaints, []);
});

test("a long talk stays at its end, unless somebody reads further up", async () => {
  const ann = await enter("Ann");
  const bob = await enter("Bob");
  for (let n = 0; n < 40; n += 1) await say(bob, `message ${n}`);
  await seesMessage(ann, "message 39");
  const atEnd = () => ann.getByRole("log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 2);
  assert.ok(await atEnd());

  await ann.getByRole("log").evaluate((log) => log.scrollTo(0, 0));
  await ann.waitForFunction(() => document.querySelector("[role=log]").scrollTop === 0);
  await say(bob, "one more");
  const more = ann.getByRole("button", { name: "1 new message" });
  await more.waitFor();
  await more.click();
  await more.waitFor({ state: "detached" });
  assert.ok(await atEnd());
});

test("the page holds on a phone, in both schemes", async () => {
  const wide = await enter("Ada Lovelace");
  const dark = await enter("Grace", { colorScheme: "dark" });
  const phone = await enter("Mehmet Öz", PHONE);
  const darkPhone = await enter("<b>Zoë</b>", { ...PHONE, colorScheme: "dark" });
  await say(wide, "Good morning! Is anybody else on the new server yet?");
  await say(dark, "Yes, since yesterday evening.");
  await say(dark, "I brought the slides for this afternoon.\nThey are short, I promise.");
  await say(phone, "Hello from a phone");
  await say(darkPhone, "<script>alert('hi')</script>");
  await say(wide, "Shown as text, as it should be.");
  for (const page of [wide, dark, phone, darkPhone]) {
    await seesMessage(page, "Shown as text, as it should be.");
    await fits(page);
  }
  await picture(wide, "light");
  await picture(dark, "dark");
  await picture(phone, "phone-light");
  await picture(darkPhone, "phone-dark");

  await phone.getByRole("button", { name: "People here: 4" }).click();
  await hasFocus(phone, "Close");
  await picture(phone, "phone-people");
  await phone.keyboard.press("Escape");
  await hasFocus(phone, "People here: 4");
});

function open(options, prepare, path = "") {
  return browser.open(`${throng.page}${path}`, options, prepare);
}

function enter(name, options = {}, path = "", is = /^Online$/) {
  return enterAs(browser, `${throng.page}${path}`, name, options, is);
}

/** Waits until the list of people is `people`, in any order; the page's own person has " you" behind the name. */
function seesPeople(page, people) {
  return page.waitForFunction(
    (wanted) => {
      const rows = [...document.querySelectorAll(".person")];
      const names = rows.map((row) => {
        const parts = [...row.querySelectorAll(".person-name, .person-you")];
        return parts.map(({ textContent }) => textContent).join(" ");
      });
      return JSON.stringify(names.sort()) === wanted;
    },
    JSON.stringify([...people].sort()),
  );
}

/** Runs inside the page, before its own scripts: as if a proxy answered every upgrade with an error. */
function refuseWebSockets() {
  window.WebSocket = class Refused {
    readyState = 0;
    constructor() {
      setTimeout(() => {
        this.readyState = 3;
        this.onerror?.(new Event("error"));
        this.onclose?.(new CloseEvent("close", { code: 1006 }));
      });
    }
    send() {}
    close() {}
  };
}
