// Private conversations on the page, and the list of all that one has, in headless Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Inbox } from "./harness/answers.js";
import { PHONE, picture, WIDE } from "./harness/browser.js";
import { comeIn, LOBBY, join, ok } from "./harness/messenger.js";
import { connect, newest } from "./harness/clients.js";
import {
  enterAs, field, fits, hasFocus, holds, isOnline, line, openLine, reads, ROOM, say, seesMessage, talk, unread, write,
} from "./harness/room-page.js";
import { browser, setStage, throng } from "./harness/stage.js";

setStage();

test("two write to each other in private, and each sees what waits", async () => {
  const ann = await enter("Ann", WIDE);
  const bob = await enter("Bob", { ...WIDE, colorScheme: "dark" });
  await say(bob, "hello all");
  await seesMessage(ann, "hello all");
  await write(ann, "Bob");
  await unread(ann, "Lobby", undefined);
  await ann.getByText("No messages yet. Say hello!").waitFor();
  await say(ann, "between us");
  await seesMessage(ann, "between us");
  await unread(bob, "Ann", "1 unread");
  await titled(bob, "(1) Lobby · Throng");
  assert.deepEqual(await talk(bob), ["Bob: hello all"], "the room has nothing of it");
  await picture(bob, "direct-unread");

  await openLine(bob, "Ann");
  await seesMessage(bob, "between us");
  await titled(bob, "Ann · Throng");
  await bob.getByText("Direct message · online").waitFor();
  await field(bob).pressSequentially("of course");
  await ann.getByText("Bob is typing…").waitFor();
  await bob.keyboard.press("Enter");
  await seesMessage(ann, "of course");
  await reads(ann, ["Ann: between us", "Bob: of course"]);
  await picture(ann, "direct-light");
  await picture(bob, "direct-dark");
  for (const page of [ann, bob]) await fits(page);

  await bob.getByRole("button", { name: "Back to Lobby" }).click();
  await seesMessage(bob, "hello all");
  await unread(bob, "Ann", undefined);
  await say(bob, "to all");
  await unread(ann, "Lobby", "1 unread");
  await bob.reload();
  await isOnline(bob);
  await openLine(bob, "Ann");
  await seesMessage(bob, "of course");
  assert.deepEqual(browser.complaints, []);
});

test("what is sent before the conversation is open goes out as it opens, and what was changed meanwhile does not", async () => {
  const [holding, release] = holdAnswers("history");
  const ann = await enterAs(browser, `${throng.page}${ROOM}`, "Ann", WIDE, /^Online$/, holding);
  const bob = await enter("Bob", WIDE);
  await write(ann, "Bob");
  await field(ann).fill("first");
  await field(ann).press("Enter");
  await unread(bob, "Ann", undefined);
  await holds(field(ann), "first");
  await release();
  await seesMessage(ann, "first");
  await unread(bob, "Ann", "1 unread");

  await ann.getByRole("button", { name: "Back to Lobby" }).click();
  await openLine(ann, "Bob");
  await field(ann).fill("second");
  await field(ann).press("Enter");
  await field(ann).fill("second thoughts");
  await release();
  await seesMessage(ann, "first");
  await holds(field(ann), "second thoughts");
  await ann.locator(".composer-send:enabled").waitFor();
  await reads(ann, ["Ann: first"]);
});

test("what is said in private while the server is away or the page is elsewhere is there afterwards, once", async (t) => {
  const ann = await enter("Ann", WIDE);
  const bob = await comeIn(t, throng, { name: "Bob" });
  await write(ann, "Bob");
  await say(ann, "first");
  await seesMessage(ann, "first");
  const { conversation } = (await ok(bob.person, "conversations")).conversations.find(
    (each) => each.conversation.kind === "direct",
  );
  await ann.getByRole("button", { name: "Back to Lobby" }).click();
  await ok(bob.person, "msg:new", { conversation: conversation.id, text: "second" });
  await unread(ann, "Bob", "1 unread");
  await openLine(ann, "Bob");
  await seesMessage(ann, "second");

  await throng.stop();
  await ann.getByRole("status").filter({ hasText: /^Offline/ }).waitFor();
  await field(ann).fill("third");
  await throng.start();
  await isOnline(ann);
  await ann.getByRole("button", { name: "Send", exact: true }).click();
  await seesMessage(ann, "third");
  await reads(ann, ["Ann: first", "Bob: second", "Ann: third"]);
});

test("a phone has the conversations behind a button, and says how much waits there", async (t) => {
  const ann = await enter("Ann", { ...PHONE, viewport: { width: 320, height: 640 }, colorScheme: "dark" });
  const bob = await comeIn(t, throng, { name: "Bob" });
  const { conversation } = await ok(bob.person, "direct", { with: await me(ann, bob) });
  await ok(bob.person, "msg:new", { conversation: conversation.id, text: "psst" });
  await ann.getByRole("button", { name: "Conversations: 1 unread" }).click();
  await hasFocus(ann, "Close");
  await picture(ann, "direct-phone-list");
  await fits(ann);
  await ann.keyboard.press("Escape");
  await hasFocus(ann, "Conversations: 1 unread");
  await ann.keyboard.press("Enter");
  await openLine(ann, "Bob");
  await seesMessage(ann, "psst");
  await ann.getByRole("button", { name: "Conversations", exact: true }).waitFor();
  await picture(ann, "direct-phone");
  await fits(ann);
});

test("who comes is seen also where somebody only looks on, of whom the room's own topic tells nothing", async (t) => {
  const looking = connect(t, newest, throng.socket, { params: { community: "default", name: "Looking" } });
  await join(looking, LOBBY, { visit: true });
  const ann = await enter("Ann", WIDE);
  await comeIn(t, throng, { name: "Bob" });
  await ann.getByRole("button", { name: "Send a direct message to Bob" }).waitFor();
});

test("a page is told that one is on too many devices, and has the conversations once one of them is gone", async (t) => {
  const ann = await enter("Ann", WIDE);
  const token = await ann.evaluate(() => Object.entries(localStorage).find(([key]) => key.startsWith("throng:token:"))[1]);
  // The page is the 32nd.
  const devices = await Promise.all(Array.from({ length: 31 }, () => comeIn(t, throng, { token })));
  const another = await ann.context().newPage();
  await another.goto(ann.url());
  await isOnline(another);
  const note = another.getByText("You are connected on too many devices");
  await note.waitFor();
  assert.equal(await line(another, "Lobby").count(), 0);
  await picture(another, "direct-too-many-devices");
  devices[0].socket.disconnect();
  await note.waitFor({ state: "detached" });
  await line(another, "Lobby").waitFor();
});

function enter(name, options = {}) {
  return enterAs(browser, `${throng.page}${ROOM}`, name, options);
}

/** How to prepare a page that gets no answer to such an event, and how to release the next one. */
function holdAnswers(event) {
  const held = new Inbox(`an answer to ${event}`);
  const refs = new Set();
  const prepare = (page) => page.routeWebSocket(/\/websocket/, (client) => {
    const server = client.connectToServer();
    client.onMessage((frame) => {
      const [, ref, , asked] = JSON.parse(frame);
      if (asked === event) refs.add(ref);
      server.send(frame);
    });
    server.onMessage((frame) => {
      if (refs.delete(JSON.parse(frame)[1])) held.add(() => client.send(frame));
      else client.send(frame);
    });
  });
  return [prepare, async () => { (await held.next())(); }];
}

function titled(page, title) {
  return page.waitForFunction((wanted) => document.title === wanted, title);
}

/** The id of who has the page, as somebody else in the lobby knows it. */
async function me(page, other) {
  const { members } = await ok(other.room, "members", {});
  const found = members.find(({ person }) => person !== other.me.id);
  assert.ok(found, `${await page.title()}: nobody else is in the lobby`);
  return found.person;
}
