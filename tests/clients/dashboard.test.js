// The dashboard of a run of Stampede: people watch the run, and stop it; pages of others do not.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, get } from "node:http";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { Browser, PHONE, picture } from "./harness/browser.js";
import { startThrong } from "./harness/process.js";
import { blank, overflows, pale } from "./harness/sight.js";
import { longTalk, play } from "./harness/stampede.js";

const GRAPHS = ".graph svg";
const CURVES = "path.curve, circle.point";
/** A name that leads to this machine, as after DNS rebinding. */
const ELSEWHERE = "elsewhere.example";
/** What a run that ended as it should leaves. */
const FILES = [
  "report.html", "plots", "scenario.yaml", "summary.json", "histograms.json", "series.csv", "events.csv.zst", "run.json",
];

let browser;
let throng;
let run;

before(async () => {
  browser = await Browser.start([`--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`]);
  throng = await startThrong();
});
after(async () => {
  await browser?.end();
  await throng?.end();
});
beforeEach(() => { run = undefined; });
afterEach(async () => {
  await browser.closePages();
  await run?.end();
});

test("it shows the run, and its figures and graphs move", async () => {
  const url = await watch();
  const page = await browser.open(url);
  await page.getByRole("heading", { name: "a long talk", exact: true }).waitFor();
  await status(page, /^Phase 2 of 2: talking$/);
  await page.locator(".badge", { hasText: / so far$/ }).waitFor();
  await page.waitForFunction(() => document.title.endsWith("a long talk · Stampede"));

  const [sent, elapsed] = [await sentInAll(page), await newest(page)];
  await sentBeyond(page, sent + 20);
  await page.waitForFunction((last) => Number(document.querySelector(".graph svg").ariaValueNow) > last + 1, elapsed);
  await tile(page, "Connected").filter({ hasText: /^Connected55 joined$/ }).waitFor();
  await tile(page, "Errors").filter({ hasText: /^Errors5\d last second$/ }).waitFor();
  await page.getByRole("row").filter({ hasText: /^5http rejected 404/ }).waitFor();

  const titles = await page.locator(".graph h3").allInnerTexts();
  for (const title of ["Users", "Messages per second", "Message latency", "Connect time", "Server memory"]) {
    assert.ok(titles.includes(title), `${title} in ${titles.join(", ")}`);
  }
  assert.deepEqual(await blank(page, GRAPHS, CURVES), []);
  const asked = browser.requests.filter((address) => !address.startsWith("data:"));
  assert.deepEqual([...new Set(asked.map((address) => `${new URL(address).origin}/`))], [url]);
  assert.deepEqual(browser.complaints, []);
});

test("pointing at one graph tells the values of that second in all", async () => {
  const page = await browser.open(await watch());
  await page.waitForFunction(() => Number(document.querySelector(".graph svg")?.ariaValueNow) >= 3);
  const users = page.getByRole("slider", { name: "Users over time" });
  await users.focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => {
    const graphs = [...document.querySelectorAll(".graph svg")];
    return graphs.every((graph) => graph.ariaValueText.startsWith("00:00:"));
  });
  assert.equal(await page.locator(".graph line.cursor").count(), await page.locator(GRAPHS).count());
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector(".graph svg").ariaValueNow === "1");
  await page.keyboard.press("Escape");
  await page.locator(".graph line.cursor").first().waitFor({ state: "detached" });
});

test("the button asks, stops the run, and the folder is complete", async () => {
  const page = await browser.open(await watch());
  await sentBeyond(page, 0);
  const dialog = page.getByRole("dialog", { name: "Stop the run?" });
  await page.getByRole("button", { name: "Stop the run" }).click();
  await dialog.waitFor();
  await picture(page, "dashboard-stop");
  await dialog.getByRole("button", { name: "Keep running" }).click();
  await dialog.waitFor({ state: "hidden" });
  await sentBeyond(page, (await sentInAll(page)) + 1);

  await page.getByRole("button", { name: "Stop the run" }).click();
  await dialog.getByRole("button", { name: "Stop", exact: true }).click();
  const { code, folder, summary } = await run.ended();
  assert.equal(summary.ended_by, "stopped");
  assert.equal(code, summary.verdict.valid ? 0 : 3);
  assert.deepEqual(FILES.filter((file) => !existsSync(join(folder, file))), []);
  assert.match(readFileSync(join(folder, "report.html"), "utf8"), /<\/html>\s*$/);
  const { expected, delivered, lost, late, in_flight: inFlight } = summary.counts;
  assert.equal(expected, delivered + lost + late + inFlight);
  await status(page, /^Ended: stopped$/);
  await status(page, /^The run is complete; the report is in its folder\.$/);
  assert.equal(await page.locator(".badge").innerText(), summary.verdict.valid ? "Valid" : "Invalid");
  assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 0);
  await picture(page, "dashboard-ended");
  assert.ok((await sentInAll(page)) > 0, "the last figures stay");
});

test("a page of another site can neither stop the run nor read it", async () => {
  const url = await watch();
  const stop = `${url}api/stop`;
  const other = createServer((_, response) => response.setHeader("content-type", "text/html").end("<h1>Other</h1>"));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  try {
    const page = await browser.open(`http://127.0.0.1:${other.address().port}/`);
    const refused = page.waitForResponse((response) => response.url() === stop && response.request().method() === "POST");
    await page.evaluate((address) => fetch(address, { method: "POST", mode: "no-cors" }), stop);
    assert.equal((await refused).status(), 403);
    const read = await page.evaluate((address) => fetch(address).then(() => "read", () => "kept away"), `${url}api/status`);
    assert.equal(read, "kept away");

    await page.setContent(`<form method="post" action="${stop}"><button>Win a prize</button></form>`);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url() === stop),
      page.getByRole("button").click(),
    ]);
    assert.equal(answer.status(), 403);
  } finally {
    other.close();
  }
  assert.equal((await statusOf(url)).stop, "no");
});

test("under a foreign name the dashboard does not answer", async () => {
  const url = await watch();
  const page = await browser.open("about:blank");
  const answer = await page.goto(url.replace("127.0.0.1", ELSEWHERE));
  assert.equal(answer.status(), 421);
  await page.getByText("open this dashboard by its IP address or as localhost").waitFor();
  for (const path of ["api/status", "api/series", "metrics"]) {
    assert.equal(await code(`${url}${path}`, { Host: ELSEWHERE }), 421, path);
  }
  assert.equal(await code(`${url}api/status`, { Host: "localhost" }), 200);
});

test("beyond this machine only the address with the token stops the run", async () => {
  const [address, token] = (await watch("0.0.0.0:0")).split("#token=");
  const url = address.replace("0.0.0.0", "127.0.0.1");
  assert.match(token, /^[0-9a-f]{32}$/);
  for (const fragment of ["", "#token=", `#token=${"0".repeat(32)}`]) {
    const page = await browser.open(`${url}${fragment}`);
    await stop(page);
    await page.getByRole("alert").filter({ hasText: "stopping the run requires the token" }).waitFor();
    assert.equal((await statusOf(url)).stop, "no", fragment);
    if (fragment === "") await picture(page, "dashboard-without-token");
    await page.context().close();
  }
  const page = await browser.open(`${url}#token=${token}`);
  await stop(page);
  assert.equal((await run.ended()).summary.ended_by, "stopped");
  assert.ok(browser.requests.every((asked) => !asked.split("#")[0].includes(token)), "no address has the token");
});

test("it can be read in the dark and on a telephone, where nothing is cut off", async () => {
  const url = await watch();
  const looks = {
    light: {},
    dark: { colorScheme: "dark" },
    phone: PHONE,
    "dark-phone": { ...PHONE, colorScheme: "dark" },
    small: { viewport: { width: 320, height: 640 } },
  };
  for (const [name, options] of Object.entries(looks)) {
    const page = await browser.open(url, options);
    await page.waitForFunction(() => Number(document.querySelector(".graph svg")?.ariaValueNow) >= 3);
    await picture(page, `dashboard-${name}`, { fullPage: true });
    assert.deepEqual(await overflows(page), [], name);
    assert.deepEqual(await pale(page), [], name);
    assert.deepEqual(await blank(page, GRAPHS, CURVES), [], name);
  }
  assert.deepEqual(browser.complaints, []);
});

/** Starts a run that goes on for a minute, unless it is stopped; the address of its dashboard, as it is printed. */
async function watch(address = "127.0.0.1:0") {
  run = play(longTalk("a long talk", throng), ["--pid", String(throng.pid()), "--dashboard", address]);
  const [, url] = await run.says(/dashboard: (http:\S+)\n/);
  const page = await (await fetch(url.replace("0.0.0.0", "127.0.0.1"))).text();
  assert.ok(!page.includes("built without its page"), "Stampede was built before its page: `make page`, and build it again");
  return url;
}

async function stop(page) {
  await page.getByRole("button", { name: "Stop the run" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop", exact: true }).click();
}

function status(page, text) {
  return page.getByRole("status").filter({ hasText: text }).waitFor();
}

function tile(page, name) {
  return page.locator(".tile").filter({ has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) });
}

/** As the page says it. */
async function sentInAll(page) {
  const note = await tile(page, "Sent").locator("dd.muted").innerText();
  return Number(note.replace(/\D/g, ""));
}

function sentBeyond(page, before) {
  return page.waitForFunction((least) => {
    const tiles = [...document.querySelectorAll(".tile")];
    const note = tiles.find((one) => one.querySelector("dt").textContent === "Sent")?.querySelector("dd.muted");
    return Number(note?.textContent.replace(/\D/g, "") ?? 0) > least;
  }, before);
}

/** The newest second in the graphs. */
async function newest(page) {
  return Number(await page.locator(GRAPHS).first().getAttribute("aria-valuenow"));
}

async function statusOf(url) {
  return (await fetch(`${url}api/status`)).json();
}

/** The status of an answer to a request with headers of one's own. */
async function code(url, headers) {
  const [response] = await once(get(url, { headers }), "response");
  response.resume();
  return response.statusCode;
}
