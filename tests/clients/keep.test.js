// Muted and archived conversations on the page, in headless Chromium: on every device of the person the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, picture, WIDE } from "./harness/browser.js";
import { comeIn, ok } from "./harness/messenger.js";
import {
  choose, enterAs, fits, hasFocus, isOnline, line, openLine, ROOM, seesMessage, unread,
} from "./harness/room-page.js";
import { pale } from "./harness/sight.js";
import { browser, setStage, throng } from "./harness/stage.js";

setStage();

test("what is muted counts nothing but what names one, on each page of the person", async (t) => {
  const { ann, second, bob, me, say } = await meet(t);
  await choose(ann, "#tabs", "Bob", "Mute");
  for (const page of [ann, second]) await line(page, "Bob").getByRole("img", { name: "muted" }).waitFor();

  await say("nothing to see here");
  for (const page of [ann, second]) {
    await line(page, "Bob").getByText("nothing to see here").waitFor();
    await unread(page, "Bob", undefined);
    assert.equal(await page.title(), "Lobby · Throng");
  }
  await say("Ann, look", [me]);
  for (const page of [ann, second]) {
    await unread(page, "Bob", "@ 1");
    await page.waitForFunction(() => document.title === "(1) Lobby · Throng");
  }
  await picture(ann, "keep-muted");

  await choose(second, "#tabs", "Bob", "Unmute");
  for (const page of [ann, second]) {
    await line(page, "Bob").getByRole("img", { name: "muted" }).waitFor({ state: "detached" });
    await unread(page, "Bob", "2 unread");
  }
  await choose(ann, "#tabs", "Lobby", "Mute");
  await line(second, "Lobby").getByRole("img", { name: "muted" }).waitFor();
  await ok(bob.room, "msg:new", { text: "to all" });
  await ann.reload();
  await isOnline(ann);
  await line(ann, "Lobby").getByRole("img", { name: "muted" }).waitFor();
  assert.deepEqual(browser.complaints, []);
});

test("what is archived lies in a fold, on each page of the person, and comes back when something is said there", async (t) => {
  const { ann, second, say } = await meet(t);
  await say("unread before it is put away");
  await unread(ann, "Bob", "1 unread");
  await choose(ann, "#tabs", "Bob", "Archive");
  for (const page of [ann, second]) {
    await page.getByText("Archived 1").waitFor();
    await inList(page, "Bob", 0);
    await page.waitForFunction(() => document.title === "Lobby · Throng");
  }
  await ann.getByText("Archived 1").click();
  await openLine(ann, "Bob");
  await seesMessage(ann, "unread before it is put away");
  await picture(ann, "keep-archived");
  await ann.getByRole("button", { name: "Back to Lobby" }).click();

  await say("are you there?");
  for (const page of [ann, second]) await inList(page, "Bob", 1);
  await unread(ann, "Bob", "1 unread");
  await openLine(ann, "Bob");
  await seesMessage(ann, "are you there?");
  await unread(second, "Bob", undefined);
  for (const page of [ann, second]) {
    await inList(page, "Bob", 1);
    await page.getByText("Archived").waitFor({ state: "detached" });
  }

  await choose(second, "#tabs", "Bob", "Archive");
  await second.getByText("Archived 1").click();
  await choose(second, "#tabs", "Bob", "Unarchive");
  for (const page of [ann, second]) await inList(page, "Bob", 1);
});

test("the keyboard opens a line's options, goes through them and comes back", async (t) => {
  const { ann } = await meet(t);
  await line(ann, "Bob").focus();
  await ann.keyboard.press("Tab");
  await hasFocus(ann, "Options for Bob");
  await ann.keyboard.press("Enter");
  await isOn(ann, "Mute");
  await picture(ann, "keep-menu");
  await ann.keyboard.press("ArrowDown");
  await isOn(ann, "Archive");
  await ann.keyboard.press("End");
  await ann.keyboard.press("ArrowDown");
  await isOn(ann, "Mute");
  await ann.keyboard.press("Escape");
  await ann.getByRole("menu").waitFor({ state: "detached" });
  await hasFocus(ann, "Options for Bob");
  await ann.keyboard.press("Enter");
  await isOn(ann, "Mute");
  await ann.keyboard.press("Enter");
  await line(ann, "Bob").getByRole("img", { name: "muted" }).waitFor();
  await hasFocus(ann, "Options for Bob");

  const button = ann.locator("#tabs").getByRole("button", { name: "Options for Bob" });
  await button.click();
  await ann.getByRole("menu").waitFor();
  await button.click();
  await ann.getByRole("menu").waitFor({ state: "detached" });
  await button.click();
  await ann.getByLabel("Message", { exact: true }).click();
  await ann.getByRole("menu").waitFor({ state: "detached" });
});

test("a phone has the options of each line, and those of the conversation that is open", async (t) => {
  const { ann } = await meet(t, { ...PHONE, viewport: { width: 320, height: 640 }, colorScheme: "dark" });
  await ann.getByRole("button", { name: "Conversations", exact: true }).tap();
  await ann.locator("#tabs").getByRole("button", { name: "Options for Bob" }).tap();
  await ann.getByRole("menu").waitFor();
  await picture(ann, "keep-phone-menu");
  const box = await ann.getByRole("menu").boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 320, JSON.stringify(box));
  await fits(ann);
  assert.deepEqual(await pale(ann), []);
  await ann.getByRole("menuitem", { name: "Mute" }).tap();
  await line(ann, "Bob").getByRole("img", { name: "muted" }).waitFor();
  await openLine(ann, "Bob", "tap");
  await choose(ann, ".room-header", "Bob", "Archive");
  await picture(ann, "keep-phone-conversation");
  await fits(ann);
  await ann.getByRole("button", { name: "Conversations", exact: true }).tap();
  await ann.getByText("Archived 1").waitFor();
  await picture(ann, "keep-phone-archived");
});

/** Ann on two pages, and Bob, who writes to her in private. */
async function meet(t, options = WIDE) {
  const ann = await enterAs(browser, `${throng.page}${ROOM}`, "Ann", options);
  const second = await ann.context().newPage();
  await second.goto(`${throng.page}${ROOM}`);
  await isOnline(second);
  const bob = await comeIn(t, throng, { name: "Bob" });
  const { members } = await ok(bob.room, "members", {});
  const me = members.find(({ person }) => person !== bob.me.id).person;
  const { conversation } = await ok(bob.person, "direct", { with: me });
  const say = (text, mentions = []) => ok(bob.person, "msg:new", { conversation: conversation.id, text, mentions });
  for (const page of [ann, second]) await line(page, "Bob").waitFor({ state: "attached" });
  return { ann, second, bob, me, say };
}

/** Waits until so many lines of the list itself, and not of the fold, are called so. */
function inList(page, title, count) {
  return page.waitForFunction(
    ([wanted, times]) => {
      const titles = [...document.querySelectorAll(".tabs-list:not(.tabs-archive *) .tab-title bdi")];
      return titles.filter(({ textContent }) => textContent === wanted).length === times;
    },
    [title, count],
  );
}

/** Waits until that of the menu's items has the focus. */
function isOn(page, words) {
  return page.waitForFunction((wanted) => document.activeElement?.textContent === wanted, words);
}
