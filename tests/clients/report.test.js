// The report of a run of Stampede, opened as a file without a network.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Browser, PHONE, picture } from "./harness/browser.js";
import { startThrong } from "./harness/process.js";
import { blank, overflows, pale } from "./harness/sight.js";
import { play } from "./harness/stampede.js";

/** All that data is drawn with; axes, grids and legends are lines and text. */
const MARKS = "path, circle, rect";
const CHARTS = "svg.chart";

let throng;
let browser;
let run;
let summary;
let address;

before(async () => {
  throng = await startThrong();
  run = play(crowd(throng), ["--pid", String(throng.pid()), "--scrape", throng.metrics]);
  const ended = await run.ended();
  summary = ended.summary;
  address = pathToFileURL(join(ended.folder, "report.html")).href;
  browser = await Browser.start();
});
afterEach(() => browser?.closePages());
after(async () => {
  await browser?.end();
  await run?.end();
  await throng?.end();
});

test("the verdict, its reasons and the thresholds are the first thing that is read", async () => {
  const page = await open();
  const verdict = page.locator("#verdict");
  const { valid, reasons } = summary.verdict;
  assert.equal(await verdict.locator(".badge").innerText(), valid ? "VALID" : "INVALID");
  for (const reason of reasons) await verdict.getByText(reason).waitFor();
  const thresholds = await verdict.locator(".thresholds li").allInnerTexts();
  assert.match(thresholds[0], /^holds.*p99 < 60s — measured: /);
  assert.match(thresholds[1], /^failed.*errors == 0 — measured: 5$/);
  const { bottom } = await verdict.evaluate((section) => section.getBoundingClientRect().toJSON());
  assert.ok(bottom < 720, "without scrolling");
  for (const { text } of summary.findings) await page.locator("#findings").getByText(text).waitFor();
});

test("the facts of the machine and of the generator are told", async () => {
  const page = await open();
  const [{ name, facts }] = summary.machines;
  assert.ok(facts.length > 10);
  const machine = page.locator("#machines .machine").filter({ has: page.getByRole("heading", { name, exact: true }) });
  assert.deepEqual(await pairs(machine), facts);
  const generator = page.locator("#machines .machine").filter({ has: page.getByRole("heading", { name: "Generator", exact: true }) });
  assert.ok((await pairs(generator)).every(([fact, value]) => fact !== "" && value !== ""));
});

test("every chart has something drawn, on a desk and on a telephone", async () => {
  for (const options of [{}, PHONE, { colorScheme: "dark" }]) {
    const page = await open(options);
    assert.deepEqual(await page.locator("figure .nothing").allInnerTexts(), []);
    const figures = await page.locator("figure").count();
    assert.ok(figures >= 15, `${figures} figures`);
    assert.equal(await page.locator(CHARTS).filter({ visible: true }).count(), figures, "one chart in each figure");
    assert.deepEqual(await blank(page, CHARTS, MARKS), []);
  }
});

test("the tables are there, with what the summary says", async () => {
  const page = await open();
  const times = await rows(page.locator("#figures table"));
  const latency = times.find(([name]) => name === "latency from intended send time");
  assert.equal(latency?.[1], summary.times.latency.count.toLocaleString("en"));
  assert.deepEqual((await rows(page.locator("#errors table")))[1].slice(0, 4), ["http", "rejected", "404", "5"]);
  const tsung = await page.locator("#tsung h3").allInnerTexts();
  const headings = ["Main statistics", "Transactions", "Network throughput", "Counters", "Errors", "HTTP return codes"];
  assert.deepEqual(tsung, headings);
  assert.deepEqual((await rows(page.locator("#wsdemo table")))[0], ["figure", "connection_time", "latency", "count"]);
});

test("the contents lead to every section", async () => {
  const page = await open();
  const links = page.getByRole("navigation", { name: "Contents" }).getByRole("link");
  const targets = await links.evaluateAll((found) => found.map((link) => link.hash.slice(1)));
  const sections = await page.locator("section:not(#verdict)").evaluateAll((found) => found.map(({ id }) => id));
  assert.deepEqual(targets, sections);
});

test("pointing at a chart tells its values at that time", async () => {
  const page = await open();
  const chart = page.locator(`${CHARTS}[data-hover]`).filter({ visible: true }).first();
  await chart.hover();
  const values = page.locator("#values");
  await values.waitFor();
  assert.match(await values.innerText(), /\d+:\d\d/);
  for (const name of ["active", "connected", "wanted"]) await values.getByText(name).waitFor();
  await page.mouse.move(1, 1);
  await values.waitFor({ state: "hidden" });
});

test("it asks nobody for anything and complains about nothing", async () => {
  const page = await open();
  await page.locator("section").last().scrollIntoViewIfNeeded();
  assert.deepEqual(browser.requests, [address]);
  assert.deepEqual(browser.complaints, []);
});

test("it can be read in the dark and on a telephone, where nothing is cut off", async () => {
  const looks = {
    light: {},
    dark: { colorScheme: "dark" },
    phone: PHONE,
    "dark-phone": { ...PHONE, colorScheme: "dark" },
    small: { viewport: { width: 320, height: 640 } },
  };
  for (const [name, options] of Object.entries(looks)) {
    const page = await open(options);
    await picture(page, `report-${name}`, { fullPage: true });
    assert.deepEqual(await overflows(page), [], name);
    assert.deepEqual(await pale(page), [], name);
    await page.locator("#verdict").evaluate((verdict) => verdict.classList.toggle("invalid"));
    assert.deepEqual(await pale(page), [], `${name}, with the other verdict`);
  }
});

/** Some that come one after the other, read a page, miss another and talk: there is something to draw in every chart. */
function crowd({ page, socket }) {
  return {
    name: "a crowd that reads <b>&</b> talks",
    target: new URL("/", socket).href,
    phases: [{ name: "arriving", rate: "2/s", max_users: 5 }],
    sessions: [
      {
        name: "talker",
        steps: [
          { http: page },
          { http: "/missing" },
          { connect: { path: "/socket/websocket", phoenix: "v2" } },
          { join: "rooms:lobby" },
          {
            loop: {
              for: "3s",
              steps: [
                { push: { topic: "rooms:lobby", event: "new_msg", size: 64, audience: "room" } },
                { pace: "100ms" },
              ],
            },
          },
        ],
      },
    ],
    drain: "2s",
    thresholds: ["p99 < 60s", "errors == 0"],
  };
}

function open(options = {}) {
  return browser.open(address, { offline: true, ...options });
}

function pairs(machine) {
  return machine.locator("dt").evaluateAll((terms) =>
    terms.map((term) => [term.textContent, term.nextElementSibling.textContent]),
  );
}

function rows(table) {
  return table.locator("tr").evaluateAll((found) =>
    found.map((row) => [...row.cells].map(({ textContent }) => textContent)),
  );
}
