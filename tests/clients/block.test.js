// Blocking people on the page, in headless Chromium: from where they are met, on every device, and how it is taken back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, picture, WIDE } from "./harness/browser.js";
import {
  choose, enterAs, field, fits, hasFocus, isOnline, line, messageOf, openLine, ROOM, say, seesMessage, write,
} from "./harness/room-page.js";
import { pale } from "./harness/sight.js";
import { browser, setStage, throng } from "./harness/stage.js";

setStage();

test("who is blocked from the list of those here cannot be written to, nor write, until it is taken back", async () => {
  const ann = await enter("Ann", WIDE);
  const bob = await enter("Bob", WIDE);
  await write(bob, "Ann");
  await say(bob, "hello you");
  await line(ann, "Bob").waitFor();
  const second = await ann.context().newPage();
  await second.goto(`${throng.page}${ROOM}`);
  await isOnline(second);

  await choose(ann, "#people", "Bob", "Block Bob…");
  const dialog = ann.getByRole("dialog", { name: "Block Bob?" });
  await picture(ann, "block-asked");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await hasFocus(ann, "Options for Bob");
  assert.equal(await ann.getByRole("button", { name: /Blocked people/ }).count(), 0);
  await choose(ann, "#people", "Bob", "Block Bob…");
  await dialog.getByRole("button", { name: "Block" }).click();
  for (const page of [ann, second]) {
    await page.locator("#people .person", { hasText: "Bob" }).getByText("blocked", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Blocked people 1" }).waitFor();
  }

  await say(bob, "still there?");
  await bob.getByText("One of you has blocked the other.").first().waitFor();
  const back = bob.getByRole("button", { name: "Back to Lobby" });
  await back.click();
  // Who writes before the room is there writes into what is being left.
  await back.waitFor({ state: "detached" });
  await say(bob, "in the room");
  await seesMessage(ann, "in the room");
  await picture(ann, "block-room");

  await openLine(ann, "Bob");
  await seesMessage(ann, "hello you");
  await ann.getByText("You have blocked Bob: neither of you can write here.").waitFor();
  assert.equal(await field(ann).count(), 0);
  await picture(ann, "block-direct");
  await ann.getByRole("button", { name: "Unblock" }).click();
  await field(ann).waitFor();
  await second.getByRole("button", { name: /Blocked people/ }).waitFor({ state: "detached" });
  await say(ann, "I am here");
  await line(bob, "Ann").getByText("I am here").waitFor();
  await openLine(bob, "Ann");
  await seesMessage(bob, "I am here");
  assert.deepEqual(browser.complaints, []);
});

test("those whom one blocks are listed by name, and each can be unblocked, after a reload, too", async () => {
  const ann = await enter("Ann", WIDE);
  for (const name of ["Bob", "Cat"]) {
    await enter(name);
    await choose(ann, "#people", name, `Block ${name}…`);
    await ann.getByRole("dialog").getByRole("button", { name: "Block" }).click();
    await ann.getByRole("dialog").waitFor({ state: "detached" });
  }
  await ann.reload();
  await isOnline(ann);
  await ann.getByRole("button", { name: "Blocked people 2" }).click();
  const dialog = ann.getByRole("dialog", { name: "Blocked people" });
  await dialog.getByRole("button", { name: "Unblock Cat" }).waitFor();
  await picture(ann, "block-list");
  assert.deepEqual(await pale(ann), []);
  await dialog.getByRole("button", { name: "Unblock Bob" }).press("Enter");
  await dialog.getByRole("button", { name: "Unblock Bob" }).waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Unblock Cat" }).click();
  await dialog.getByText("You have not blocked anybody.").waitFor();
  await ann.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await ann.getByRole("button", { name: /Blocked people/ }).waitFor({ state: "detached" });
});

test("who is not here any more is met by what they said", async () => {
  const ann = await enter("Ann");
  const bob = await enter("Bob");
  await say(bob, "something bad");
  await seesMessage(ann, "something bad");
  await bob.context().close();
  await ann.locator("#people .person", { hasText: "Bob" }).waitFor({ state: "detached" });
  await ann.keyboard.press("Shift+Tab");
  await ann.keyboard.press("ArrowUp");
  await ann.keyboard.press("Tab");
  await ann.keyboard.press("Enter");
  await ann.getByRole("menu", { name: "Options for Bob" }).waitFor();
  await picture(ann, "block-author");
  await ann.keyboard.press("End");
  await ann.keyboard.press("Enter");
  await ann.getByRole("dialog").getByRole("button", { name: "Block" }).press("Enter");
  await ann.getByRole("dialog").waitFor({ state: "detached" });
  await messageOf(ann, "something bad").getByRole("button", { name: "Bob" }).click();
  await ann.getByRole("menuitem", { name: "Unblock Bob" }).click();
  await messageOf(ann, "something bad").getByRole("button", { name: "Bob" }).click();
  await ann.getByRole("menuitem", { name: "Send a direct message" }).click();
  await ann.getByRole("button", { name: "Back to Lobby" }).waitFor();
  await field(ann).waitFor();
});

test("a phone blocks from the conversation itself", async () => {
  const ann = await enter("Ann", { ...PHONE, viewport: { width: 320, height: 640 }, colorScheme: "dark" });
  const bob = await enter("Bob", WIDE);
  await write(bob, "Ann");
  await say(bob, "psst");
  await ann.getByRole("button", { name: "Conversations: 1 unread" }).tap();
  await openLine(ann, "Bob", "tap");
  await seesMessage(ann, "psst");
  await choose(ann, ".room-header", "Bob", "Block Bob…");
  await ann.getByRole("dialog").getByRole("button", { name: "Block" }).waitFor();
  await picture(ann, "block-phone-asked");
  await fits(ann);
  await ann.getByRole("dialog").getByRole("button", { name: "Block" }).tap();
  await ann.getByText("You have blocked Bob: neither of you can write here.").waitFor();
  await picture(ann, "block-phone");
  await fits(ann);
  assert.deepEqual(await pale(ann), []);
});

function enter(name, options = {}) {
  return enterAs(browser, `${throng.page}${ROOM}`, name, options);
}
