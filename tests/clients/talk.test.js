// What one does with messages on the page of a room, in headless Chromium: two people look at the same stored room.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, picture } from "./harness/browser.js";
import { comeIn, ok, tokenOf, trustSite } from "./harness/messenger.js";
import {
  act, enterAs, field, fits, holds, isOnline, messageOf, react, reads, ROOM, say, seesMessage, top,
} from "./harness/room-page.js";
import { browser, setStage, throng } from "./harness/stage.js";

setStage();

test("one writes, the other sees it coming, reacts, and sees it edited and deleted", async () => {
  const ann = await enter("Ann");
  const bob = await enter("Bob");
  await field(ann).pressSequentially("helo");
  await bob.getByText("Ann is typing…").waitFor();
  await ann.keyboard.press("Enter");
  await seesMessage(bob, "helo");
  await bob.getByText("Ann is typing…").waitFor({ state: "detached" });

  await react(bob, "helo", "Thumbs up");
  await pressed(bob, "👍 1", true);
  await pressed(ann, "👍 1", false);
  await ann.getByRole("button", { name: "👍 1" }).click();
  await pressed(ann, "👍 2", true);
  await pressed(bob, "👍 2", true);
  await ann.getByRole("button", { name: "👍 2" }).click();
  await pressed(ann, "👍 1", false);
  await picture(bob, "talk-reacted");

  await field(ann).press("ArrowUp");
  await ann.getByText("Editing your message").waitFor();
  await holds(field(ann), "helo");
  await field(ann).fill("hello");
  await picture(ann, "talk-editing");
  await ann.keyboard.press("Enter");
  await seesMessage(bob, "hello");
  await bob.getByText("edited", { exact: true }).waitFor();
  await pressed(bob, "👍 1", true);
  await holds(field(ann), "");

  await act(ann, "hello", "Delete");
  await picture(ann, "talk-deleting");
  await ann.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await bob.getByText("This message was deleted.").waitFor();
  await reads(bob, ["Ann: (deleted)"]);
  await reads(ann, ["Ann: (deleted)"]);
  assert.equal(await bob.getByRole("button", { name: /👍/ }).count(), 0);
  await ann.locator("textarea:focus").waitFor();
  assert.deepEqual(browser.complaints, []);
});

test("what is given up is not done, and the draft is still there", async () => {
  const ann = await enter("Ann");
  await say(ann, "as it was");
  await seesMessage(ann, "as it was");
  await field(ann).fill("a draft");
  await act(ann, "as it was", "Edit");
  await field(ann).fill("as it never will be");
  await ann.keyboard.press("Escape");
  await holds(field(ann), "a draft");
  await act(ann, "as it was", "Delete");
  await ann.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await ann.getByRole("dialog").waitFor({ state: "detached" });
  await act(ann, "as it was", "Reply");
  await ann.getByText("Answering Ann as it was").waitFor();
  await ann.keyboard.press("Escape");
  await ann.getByText("Answering").waitFor({ state: "detached" });
  await ann.keyboard.press("Enter");
  await seesMessage(ann, "a draft");
  await reads(ann, ["Ann: as it was", "Ann: a draft"]);
  assert.equal(await ann.locator(".quote").count(), 0);
});

test("only one's own messages can be edited and deleted, everybody's answered", async () => {
  const ann = await enter("Ann");
  const bob = await enter("Bob");
  await say(ann, "of Ann");
  await messageOf(bob, "of Ann").hover();
  assert.deepEqual(await actions(bob, "of Ann"), ["React", "Reply"]);
  await messageOf(ann, "of Ann").hover();
  assert.deepEqual(await actions(ann, "of Ann"), ["React", "Reply", "Edit", "Delete"]);
});

test("an answer shows what it answers, and leads there however far up it is", async (t) => {
  const ann = await enter("Ann");
  await say(ann, "the question");
  await seesMessage(ann, "the question");
  await fill(t, "Filler", 110);
  const bob = await enter("Bob");
  await seesMessage(bob, "Filler 109");
  const cat = await comeIn(t, throng, { name: "Cat" });
  const { seq } = (await ok(cat.room, "history", { around: 1, limit: 1 })).messages[0];
  await ok(cat.room, "msg:new", { text: "the answer", reply_to: seq });
  await seesMessage(bob, "the answer");
  const quote = bob.getByRole("button", { name: "In reply to Ann the question" });
  await quote.waitFor();
  assert.equal(await messageOf(bob, "the question").count(), 0, "it is not on the page yet");
  await picture(bob, "talk-answer");
  await quote.click();
  await seesMessage(bob, "the question");
  await bob.locator(".message-sought").waitFor();
  assert.ok((await top(bob, "the question")) > 0);

  await bob.getByRole("button", { name: "Newest" }).click();
  await seesMessage(bob, "the answer");
  await act(bob, "the answer", "Reply");
  await bob.getByText("Answering Cat the answer").waitFor();
  await say(bob, "and thanks");
  await ann.getByRole("button", { name: "In reply to Cat the answer" }).waitFor();
});

test("history comes while one scrolls, far beyond what the page holds at once, and back to the end", async (t) => {
  await Promise.all(["A", "B", "C", "D", "E", "F"].map((name) => fill(t, name, 110)));
  const ann = await enter("Ann");
  await ann.locator(".message").first().waitFor();
  const log = ann.getByRole("log");
  const beginning = ann.getByText("This is where Lobby begins.");
  while ((await beginning.count()) === 0) {
    const before = await first(ann);
    await log.evaluate((each) => each.scrollTo(0, 0));
    await ann.waitForFunction(
      (seq) => Number(document.querySelector("[data-seq]").dataset.seq) < seq,
      before,
    );
  }
  assert.equal(await first(ann), 1);
  assert.equal(await ann.locator(".message").count(), 500, "the page holds a window of the talk");
  await fill(t, "Late", 1);
  await ann.getByRole("button", { name: /new message/ }).waitFor();
  for (let last = 0; last < 661; ) {
    await log.evaluate((each) => each.scrollTo(0, each.scrollHeight));
    last = await ann.locator(".message").last().evaluate((each) => Number(each.dataset.seq));
  }
  await seesMessage(ann, "Late 0");
  const places = await ann.locator(".message").evaluateAll((each) => each.map(({ dataset }) => Number(dataset.seq)));
  assert.deepEqual(places, Array.from({ length: places.length }, (_, at) => places[0] + at), "without a hole");
  assert.ok(places.length <= 500);
});

test("who comes back finds the line where what is new begins", async (t) => {
  const ann = await enter("Ann");
  const bob = await comeIn(t, throng, { name: "Bob" });
  await say(ann, "known");
  await seesMessage(ann, "known");
  const context = ann.context();
  await ann.close();
  for (const text of ["new one", "new two"]) await ok(bob.room, "msg:new", { text });
  const again = await context.newPage();
  await again.goto(`${throng.page}${ROOM}`);
  await seesMessage(again, "new two");
  await again.locator(".new-messages").waitFor();
  const rows = await again.locator(".messages-list > li:not(.day)").evaluateAll((each) =>
    each.map((row) => row.querySelector(".message-body")?.textContent ?? row.textContent),
  );
  assert.deepEqual(rows, ["known", "New messages", "new one", "new two"]);
  await picture(again, "talk-new");
  await say(again, "all read");
  await again.locator(".new-messages").waitFor({ state: "detached" });
});

test("the keyboard reaches every message and what can be done with it", async () => {
  const ann = await enter("Ann");
  const bob = await enter("Bob");
  await say(bob, "of Bob");
  await seesMessage(ann, "of Bob");
  await say(ann, "of Ann");
  await seesMessage(ann, "of Ann");

  await ann.keyboard.press("Shift+Tab");
  await ann.keyboard.press("ArrowUp");
  assert.equal(await focusedMessage(ann), "of Ann");
  await ann.keyboard.press("ArrowUp");
  assert.equal(await focusedMessage(ann), "of Bob");
  await ann.keyboard.press("Enter");
  await ann.keyboard.press("Enter");
  await ann.keyboard.press("ArrowRight");
  await ann.keyboard.press("Enter");
  await pressed(bob, "❤️ 1", false);
  await ann.getByRole("log").focus();
  await ann.keyboard.press("ArrowUp");
  await ann.keyboard.press("ArrowUp");
  await ann.keyboard.press("r");
  await ann.getByText("Answering Bob of Bob").waitFor();
  await ann.keyboard.type("by keyboard alone");
  await ann.keyboard.press("Enter");
  await seesMessage(bob, "by keyboard alone");
  await seesMessage(ann, "by keyboard alone");

  await ann.getByRole("log").focus();
  await ann.keyboard.press("ArrowUp");
  await ann.keyboard.press("Delete");
  await ann.getByRole("dialog", { name: "Delete your message?" }).waitFor();
  await ann.keyboard.press("Enter");
  await bob.getByText("This message was deleted.").waitFor();
  await ann.locator("textarea:focus").waitFor();
});

test("whom the site sends needs no name, leaves no token in the address, and keeps order as the token says", async () => {
  await trustSite(throng);
  const eve = await enter("Eve");
  await say(eve, "something bad");
  const mod = await browser.open(`${throng.page}${ROOM}#token=${tokenOf("mod", { name: "Mod", roles: ["moderator"] })}`);
  await isOnline(mod);
  assert.equal(mod.url(), `${throng.page}${ROOM}`);
  await mod.locator(".me-name", { hasText: /^Mod$/ }).waitFor();
  assert.equal(await mod.getByRole("button", { name: /Change your name/ }).count(), 0);
  await seesMessage(mod, "something bad");
  await act(mod, "something bad", "Delete");
  await mod.getByRole("dialog", { name: "Delete the message by Eve?" }).getByRole("button", { name: "Delete" }).click();
  await eve.getByText("A moderator deleted this message.").waitFor();

  await mod.reload();
  await isOnline(mod);
  await mod.locator(".me-name", { hasText: /^Mod$/ }).waitFor();
  // Sent here again, as somebody else: the address alone changes.
  await mod.evaluate((token) => { location.hash = `token=${token}`; }, tokenOf("ann", { name: "Ann" }));
  await mod.locator(".me-name", { hasText: /^Ann$/ }).waitFor();
  assert.equal(mod.url(), `${throng.page}${ROOM}`);
  assert.deepEqual(browser.complaints, []);
});

test("a token that has ended is said to have, and the page offers the other way in", async () => {
  await trustSite(throng);
  const now = Math.floor(Date.now() / 1000);
  const page = await browser.open(`${throng.page}${ROOM}#token=${tokenOf("ann", { iat: now - 7200, exp: now - 3600 })}`);
  await page.getByRole("alert").getByText(/^Your sign-in has expired. Go back to the site/).waitFor();
  await picture(page, "talk-token-ended");
  await page.getByRole("button", { name: "Join as a guest" }).click();
  await page.getByRole("textbox", { name: "Your name" }).fill("Ann");
  await page.keyboard.press("Enter");
  await isOnline(page);
});

test("what is refused is said in words, and nothing that was written is lost", async (t) => {
  await trustSite(throng);
  const mod = await comeIn(t, throng, { token: tokenOf("mod", { roles: ["moderator"] }) });
  const ann = await enter("Ann");
  const { person } = await otherThan(mod);
  await say(ann, "may write");
  await seesMessage(ann, "may write");

  await field(ann).fill("x".repeat(8 * 1024 + 5));
  await ann.getByText("The message is 5 characters too long. Shorten it, or send it in parts.").waitFor();
  assert.ok(await ann.getByRole("button", { name: "Send", exact: true }).isDisabled());
  await field(ann).fill("");

  await ok(mod.room, "conversation:change", { slow_mode_s: 3 });
  await ann.getByText("Slow mode: one message every 3 seconds.").waitFor({ state: "attached" });
  await say(ann, "in time");
  await say(ann, "too soon");
  await seesMessage(ann, "too soon");
  await reads(ann, ["Ann: may write", "Ann: in time", "Ann: too soon"]);
  await ok(mod.room, "conversation:change", { slow_mode_s: 0 });

  await ok(mod.room, "sanction", { person, kind: "mute", until: Date.now() + 3_600_000, reason: "noise" });
  await ann.getByRole("status").getByText(/^You are muted until .*: you can read, but not write/).waitFor();
  await say(ann, "but");
  await ann.getByRole("list", { name: "Not sent yet" }).getByText(/^You are muted until/).waitFor();
  await picture(ann, "talk-muted");
  await react(ann, "may write", "Heart");
  await ann.getByRole("alert").getByText(/^You are muted until/).waitFor();
  await ann.getByRole("button", { name: "Dismiss" }).click();
  await ann.getByRole("alert").waitFor({ state: "detached" });
  await ok(mod.room, "sanction:lift", { person, kind: "mute" });
  await ann.getByRole("button", { name: "Send again" }).click();
  await seesMessage(ann, "but");
});

test("a phone shows a message's actions when it is tapped, and nothing is wider than the window", async () => {
  const ann = await enter("Ann", { ...PHONE, hasTouch: true, isMobile: true, colorScheme: "dark" });
  await say(ann, "https://a.example/a/very/long/address/that/does/not/fit/into/one/line/of/a/phone?at=all");
  await say(ann, "tap me");
  await seesMessage(ann, "tap me");
  await messageOf(ann, "tap me").tap();
  const toolbar = ann.getByRole("toolbar");
  await toolbar.waitFor();
  await picture(ann, "talk-phone-actions");
  await toolbar.getByRole("button", { name: "React" }).tap();
  await picture(ann, "talk-phone-reactions");
  const box = await toolbar.boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  await toolbar.getByRole("button", { name: "Hooray" }).tap();
  await pressed(ann, "🎉 1", true);
  await fits(ann);
});

function enter(name, options = {}) {
  return enterAs(browser, `${throng.page}${ROOM}`, name, options);
}

/** Somebody says so many messages: "NAME 0", "NAME 1", … */
async function fill(t, name, count) {
  const person = await comeIn(t, throng, { name });
  for (let n = 0; n < count; n += 1) await ok(person.room, "msg:new", { text: `${name} ${n}` });
}

/** The place of the first message on the page. */
function first(page) {
  return page.locator("[data-seq]").first().evaluate((each) => Number(each.dataset.seq));
}

function pressed(page, name, on) {
  return page.locator(`.reaction[aria-label="${name}"][aria-pressed="${on}"]`).waitFor();
}

function actions(page, body) {
  const buttons = messageOf(page, body).getByRole("toolbar").getByRole("button");
  return buttons.evaluateAll((each) => each.map((button) => button.getAttribute("aria-label")));
}

function focusedMessage(page) {
  return page.evaluate(() => document.activeElement?.querySelector(".message-body")?.textContent);
}

/** The other member of the lobby. */
async function otherThan({ room, me }) {
  const { members } = await ok(room, "members", {});
  return members.find(({ person }) => person !== me.id);
}
