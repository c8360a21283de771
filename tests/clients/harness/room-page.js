/** The page of a room, as somebody uses it and reads it. */
import assert from "node:assert/strict";
import { eventually, repeatedly } from "./deadline.js";

/** What every server has. */
export const ROOM = "c/default/r/lobby";

/** Opens a room's page, and comes in under that name; `prepare` sees the page before it loads. */
export async function enterAs(browser, url, name, options = {}, is = /^Online$/, prepare = () => {}) {
  const page = await browser.open(url, options, prepare);
  await page.getByRole("textbox", { name: "Your name" }).fill(name);
  await page.getByRole("button", { name: "Join" }).click();
  await status(page, is);
  return page;
}

export function isOnline(page) {
  return status(page, /^Online$/);
}

export function status(page, text) {
  return page.getByRole("status").filter({ hasText: text }).waitFor();
}

/** Where one writes. */
export function field(page) {
  return page.getByLabel("Message", { exact: true });
}

/** Sends it as soon as that is possible: a conversation that was just opened is read first. */
export async function say(page, body) {
  await field(page).fill(body);
  await page.locator(".composer-send:enabled").waitFor();
  await field(page).press("Enter");
}

export function seesMessage(page, body) {
  return page.waitForFunction(
    (wanted) => [...document.querySelectorAll(".message-body")].some(({ textContent }) => textContent === wanted),
    body,
  );
}

/**
 * What was said, as "name: body", once the page knows who everybody is; of what was deleted there is no body.
 */
export async function talk(page) {
  await page.waitForFunction(() => {
    const names = [...document.querySelectorAll(".message-name")];
    return names.every(({ textContent }) => textContent !== "…");
  });
  return page.locator(".message").evaluateAll((messages) => {
    let name = "";
    return messages.map((message) => {
      name = message.querySelector(".message-name")?.textContent ?? name;
      return `${name}: ${message.querySelector(".message-body")?.textContent ?? "(deleted)"}`;
    });
  });
}

/** Waits until exactly this was said, in the form of `talk`: what one page shows may come to another a moment later. */
export function reads(page, wanted) {
  return eventually(() => talk(page), wanted);
}

/** Waits until a field has this text. */
export function holds(input, wanted) {
  return eventually(() => input.inputValue(), wanted);
}

/** The message with that body. */
export function messageOf(page, body) {
  return page.locator(".message", { has: page.locator(".message-body", { hasText: exactly(body) }) });
}

/** How far below the window's top a message stands. */
export function top(page, body) {
  return page.locator(".message-body", { hasText: exactly(body) }).evaluate((each) => each.getBoundingClientRect().top);
}

/** Points at a message and chooses one of its actions. */
export async function act(page, body, action) {
  const message = messageOf(page, body);
  await message.hover();
  await message.getByRole("toolbar").getByRole("button", { name: action, exact: true }).click();
}

/** Reacts with one of those that are offered, by its name. */
export async function react(page, body, name) {
  await act(page, body, "React");
  await messageOf(page, body).getByRole("toolbar").getByRole("button", { name, exact: true }).click();
}

/** Waits until what has this name has the focus: a dialog takes it, and gives it back, a moment after it is drawn. */
export async function hasFocus(page, name) {
  const is = (wanted) => document.activeElement?.getAttribute("aria-label") === wanted;
  try {
    await page.waitForFunction(is, name);
  } catch (error) {
    const focused = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200));
    throw new Error(`"${name}" never had the focus, which is on ${focused}`, { cause: error });
  }
}

/** Opens a conversation with somebody who is here. */
export async function write(page, name) {
  await page.getByRole("button", { name: `Send a direct message to ${name}` }).click();
  await page.getByRole("button", { name: "Back to Lobby" }).waitFor();
}

/** The line of the conversations' list that is called so. */
export function line(page, title) {
  return page.locator(".tab", { has: page.locator(".tab-title bdi", { hasText: exactly(title) }) });
}

/**
 * Opens the private conversation of a line. What was said last comes first in the list, so a line may go away from under
 * the pointer between press and release; then it is pressed again, as one would.
 */
export async function openLine(page, title, press = "click") {
  const opened = page.getByRole("button", { name: /^Back to / });
  await repeatedly(async () => {
    await line(page, title)[press]();
    await opened.waitFor({ timeout: 3000 });
  });
}

/** Waits until a line says how much of it is new, or nothing. */
export async function unread(page, title, words) {
  const badge = line(page, title).locator(".tab-unread");
  if (words === undefined) await badge.waitFor({ state: "detached" });
  else await badge.filter({ hasText: words }).waitFor();
}

/** Chooses what is to be done, of the options of a conversation or of somebody, in a panel of the page. */
export async function choose(page, panel, title, option) {
  const button = page.locator(panel).getByRole("button", { name: `Options for ${title}`, exact: true });
  await button.press("Enter");
  await page.getByRole("menuitem", { name: option, exact: true }).click();
  await page.getByRole("menu").waitFor({ state: "detached" });
}

/** Insists that nothing is wider than the window. */
export async function fits(page) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, "nothing is wider than the window");
}

function exactly(text) {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/gu, "\\$&")}$`);
}
