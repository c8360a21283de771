// What Throng and Stampede show to Prometheus, read by Prometheus's own checker.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { within } from "./harness/deadline.js";
import { startThrong } from "./harness/process.js";
import { longTalk, play } from "./harness/stampede.js";

/** What Prometheus 2 and 3 ask with, shortened. */
const PROMETHEUS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
const POLL_MS = 50;

let throng;
let run;
const exposed = {};

before(async () => {
  throng = await startThrong();
  run = play(longTalk('talk "aloud"\\', throng), ["--metrics", "127.0.0.1:0"]);
  exposed.Throng = throng.metrics;
  exposed.Stampede = (await run.says(/metrics: (http:\S+)\n/))[1];
  // From here on every metric has a sample, and the last phase has begun.
  await within(untilExposed(exposed.Stampede, /phase="talking"/), "everybody has come");
  await within(untilExposed(exposed.Stampede, /^stampede_errors_total\{.*\} 5$/m), "five errors are counted");
  await within(untilExposed(exposed.Stampede, /^stampede_messages_delivered_total [1-9]/m), "a message is delivered");
});
after(async () => {
  await run?.end();
  await throng?.end();
});

for (const name of ["Throng", "Stampede"]) {
  describe(name, () => {
    test("its metrics pass `promtool check metrics`", async () => {
      const { type, page } = await scrape(exposed[name], "*/*");
      assert.equal(type, "text/plain; version=0.0.4; charset=utf-8");
      assert.match(page, new RegExp(`^# TYPE ${name.toLowerCase()}_\\w+_total counter$`, "m"));
      assert.equal(complaints(page), "");
    });

    test("who asks for OpenMetrics gets the same metrics in it", async () => {
      const { type, page } = await scrape(exposed[name], PROMETHEUS);
      assert.match(type, /^application\/openmetrics-text; version=1\.0\.0/);
      assert.ok(page.endsWith("# EOF\n"), page.slice(-200));
      const { page: text } = await scrape(exposed[name], "text/plain");
      assert.deepEqual(series(page), series(text));
    });
  });
}

async function scrape(url, accept) {
  const response = await fetch(url, { headers: { accept } });
  assert.equal(response.status, 200);
  return { type: response.headers.get("content-type"), page: await response.text() };
}

async function untilExposed(url, pattern) {
  while (!pattern.test((await scrape(url, "text/plain")).page)) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** What promtool has to say about a page; nothing where all is well. */
function complaints(page) {
  const checked = spawnSync("promtool", ["check", "metrics"], { input: page, encoding: "utf8" });
  if (checked.error?.code === "ENOENT") {
    throw new Error("promtool is missing: `make deps` installs it on Debian; else it comes with Prometheus");
  }
  assert.ifError(checked.error);
  const said = checked.stdout + checked.stderr;
  return checked.status === 0 ? said : `${said}(exit status ${checked.status})`;
}

/** Names and labels, without their values. */
function series(page) {
  const samples = page.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return samples.map((line) => line.slice(0, line.lastIndexOf(" ")));
}
