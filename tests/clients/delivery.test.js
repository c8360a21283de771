// What becomes of messages whose answers are lost, in headless Chromium: between the page and the server stands a test that
// loses what it wants to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Inbox } from "./harness/answers.js";
import { WIDE } from "./harness/browser.js";
import { comeIn, ok } from "./harness/messenger.js";
import { enterAs, field, holds, isOnline, openLine, reads, ROOM, say, seesMessage, write } from "./harness/room-page.js";
import { browser, setStage, throng } from "./harness/stage.js";

setStage();

test("a message that never reached the server goes out when the connection is back", async () => {
  const { ann, way } = await enter();
  way.losesUp = (text) => text.includes('"msg:new"');
  await say(ann, "lost on the way");
  await ann.getByText("Sending…").waitFor();
  way.losesUp = () => false;
  await way.cut();
  await seesMessage(ann, "lost on the way");
  await ann.getByText("Sending…").waitFor({ state: "detached" });
  await reads(ann, ["Ann: lost on the way"]);
});

test("a message whose answer was lost is not said twice", async (t) => {
  const { ann, way } = await enter();
  const bob = await comeIn(t, throng, { name: "Bob" });
  way.losesDown = () => true;
  await say(ann, "once");
  await ann.getByText("Sending…").waitFor();
  for (let said = 0; said === 0; ) said = (await ok(bob.room, "history", {})).messages.length;
  await ok(bob.room, "msg:new", { text: "meanwhile" });
  way.losesDown = () => false;
  await way.cut();
  await seesMessage(ann, "meanwhile");
  await ann.locator(".outgoing").waitFor({ state: "detached" });
  await reads(ann, ["Ann: once", "Bob: meanwhile"]);
  assert.equal((await ok(bob.room, "history", {})).messages.length, 2);
});

test("who somebody is is asked again when the answer was lost", async (t) => {
  const { ann, way } = await enter();
  const lost = new Promise((resolve) => {
    way.losesDown = (text) => {
      const isAnswer = text.includes('"phx_reply"') && text.includes('"Bob"');
      if (isAnswer) resolve();
      return isAnswer;
    };
  });
  const bob = await comeIn(t, throng, { name: "Bob" });
  await ok(bob.room, "msg:new", { text: "hello" });
  await seesMessage(ann, "hello");
  await lost;
  way.losesDown = () => false;
  await way.cut();
  await reads(ann, ["Bob: hello"]);
});

test("several that were lost go out in the order in which they were written", async () => {
  const { ann, way } = await enter();
  way.losesUp = (text) => text.includes('"msg:new"');
  for (const text of ["one", "two", "three"]) await say(ann, text);
  await ann.getByText("Sending…").nth(2).waitFor();
  way.losesUp = () => false;
  await way.cut();
  await seesMessage(ann, "three");
  await ann.locator(".outgoing").first().waitFor({ state: "detached" });
  await reads(ann, ["Ann: one", "Ann: two", "Ann: three"]);
});

test("a message that was lost on the way here leaves no hole, and neither does what is edited behind it", async (t) => {
  const { ann, way } = await enter();
  const bob = await comeIn(t, throng, { name: "Bob" });
  way.losesDown = (text) => text.includes("lost one");
  await ok(bob.room, "msg:new", { text: "lost one" });
  way.losesDown = () => false;
  const { seq } = await ok(bob.room, "msg:new", { text: "helo" });
  await ok(bob.room, "msg:edit", { seq, text: "hello" });
  await seesMessage(ann, "hello");
  await reads(ann, ["Bob: lost one", "Bob: hello"]);
});

test("what was written and not sent is still there after a reload", async () => {
  const { ann } = await enter();
  await field(ann).fill("half a thought");
  await ann.reload();
  await isOnline(ann);
  await holds(field(ann), "half a thought");
  await ann.getByRole("button", { name: "Send", exact: true }).click();
  await seesMessage(ann, "half a thought");
  await ann.reload();
  await isOnline(ann);
  await holds(field(ann), "");
});

test("what was written in private and not sent goes out while the room is shown, and is not said twice", async (t) => {
  const { ann, way } = await enter(WIDE);
  const bob = await comeIn(t, throng, { name: "Bob" });
  const heard = Inbox.of(bob.person, "msg:new");
  await write(ann, "Bob");
  await say(ann, "first");
  await seesMessage(ann, "first");
  way.losesDown = () => true;
  await say(ann, "its answer is lost");
  const { conversation } = await heard.until(({ text }) => text === "its answer is lost");
  way.losesUp = (text) => text.includes('"msg:new"');
  await say(ann, "lost itself");
  await ann.getByText("Sending…").nth(1).waitFor();
  await ann.getByRole("button", { name: "Back to Lobby" }).click();
  await ann.locator(".outgoing").first().waitFor({ state: "detached" });
  [way.losesUp, way.losesDown] = [() => false, () => false];
  await way.cut();
  await heard.until(({ text }) => text === "lost itself");

  await openLine(ann, "Bob");
  await reads(ann, ["Ann: first", "Ann: its answer is lost", "Ann: lost itself"]);
  await ann.locator(".outgoing").first().waitFor({ state: "detached" });
  assert.equal((await ok(bob.person, "history", { conversation })).messages.length, 3);
});

test("what came too soon in private goes out while the room is shown, and what is refused is still there", async (t) => {
  const { ann, way } = await enter(WIDE);
  const bob = await comeIn(t, throng, { name: "Bob" });
  const heard = Inbox.of(bob.person, "msg:new");
  await write(ann, "Bob");
  way.refusal = { code: "rate_limited", message: "too much", details: { retry_after_ms: 500 } };
  await say(ann, "too soon");
  await ann.getByText(/^Too soon after the last message/).waitFor();
  await ann.getByRole("button", { name: "Back to Lobby" }).click();
  await ann.locator(".outgoing").waitFor({ state: "detached" });
  way.refusal = undefined;
  await heard.until(({ text }) => text === "too soon");

  await openLine(ann, "Bob");
  await seesMessage(ann, "too soon");
  way.refusal = { code: "busy", message: "busy", details: {} };
  await say(ann, "refused");
  await ann.getByRole("button", { name: "Send again" }).waitFor();
  await ann.getByRole("button", { name: "Back to Lobby" }).click();
  await ann.locator(".outgoing").waitFor({ state: "detached" });
  way.refusal = undefined;
  await openLine(ann, "Bob");
  await ann.getByRole("button", { name: "Send again" }).click();
  await reads(ann, ["Ann: too soon", "Ann: refused"]);
});

/** Ann's page, and the way of its messages: what it loses up and down, how it breaks, and why it refuses what is said. */
async function enter(options = {}) {
  const way = { losesUp: () => false, losesDown: () => false, cut: undefined, refusal: undefined };
  const ann = await enterAs(browser, `${throng.page}${ROOM}`, "Ann", options, /^Online$/, (page) =>
    page.routeWebSocket(/\/socket\/websocket/, (socket) => {
      const server = socket.connectToServer();
      way.cut = async () => {
        await Promise.all([socket.close({ code: 4000 }), server.close()]);
        await isOnline(ann);
      };
      socket.onMessage((text) => {
        const [join, ref, topic, event] = JSON.parse(String(text));
        const isRefused = event === "msg:new" && way.refusal !== undefined;
        if (isRefused) socket.send(JSON.stringify([join, ref, topic, "phx_reply", { status: "error", response: way.refusal }]));
        else if (!way.losesUp(String(text))) server.send(text);
      });
      server.onMessage((text) => { if (!way.losesDown(String(text))) socket.send(text); });
    }),
  );
  return { ann, way };
}
