import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { within } from "./deadline.js";

const STAMPEDE =
  process.env.STAMPEDE_BIN ?? fileURLToPath(new URL("../../../target/debug/stampede", import.meta.url));
/** A run has seconds of its own before it can end. */
const DEADLINE_MS = 60_000;

/** A scenario: five ask for a page that is missing, join the lobby of Throng, and talk for a minute. */
export function longTalk(name, { socket }) {
  const push = { push: { topic: "rooms:lobby", event: "new_msg", size: 64, audience: "room" } };
  return {
    name,
    target: new URL("/", socket).href,
    duration: "60s",
    phases: [{ name: "arriving", rate: "10/s", duration: "500ms" }, { name: "talking", pause: "60s" }],
    sessions: [
      {
        name: "talker",
        steps: [
          { http: "/missing" },
          { connect: { path: "/socket/websocket", phoenix: "v2" } },
          { join: "rooms:lobby" },
          { loop: { steps: [push, { pace: "100ms" }] } },
        ],
      },
    ],
    drain: "2s",
  };
}

/** Starts `stampede run` with a scenario, in a folder of its own. JSON is YAML. */
export function play(scenario, parameters = []) {
  if (!existsSync(STAMPEDE)) throw new Error(`${STAMPEDE} is missing: build it, or name another (see README.md)`);
  const folder = mkdtempSync(join(tmpdir(), "stampede-clients-"));
  writeFileSync(join(folder, "scenario.yaml"), JSON.stringify(scenario, null, 2));
  return new Run(folder, ["run", "scenario.yaml", "--out", "runs", ...parameters]);
}

class Run {
  #folder;
  #child;
  #closed;
  #output = "";

  constructor(folder, parameters) {
    this.#folder = folder;
    this.#child = spawn(STAMPEDE, parameters, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    this.#closed = once(this.#child, "close");
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on("data", (text) => {
        this.#output += text;
        this.#child.emit("said");
      });
    }
  }

  /** Waits until the run has said what matches, and returns the match. */
  async says(pattern) {
    for (;;) {
      const match = pattern.exec(this.#output);
      if (match) return match;
      if (this.#child.exitCode !== null) throw new Error(`Stampede ended without ${pattern}:\n${this.#output}`);
      await within(Promise.race([once(this.#child, "said"), this.#closed]), `Stampede says ${pattern}`);
    }
  }

  /** Waits for its end: its exit status, its folder and the summary in it. */
  async ended() {
    await within(this.#closed, "Stampede ends", DEADLINE_MS);
    const runs = join(this.#folder, "runs");
    const folder = join(runs, readdirSync(runs)[0]);
    const summary = JSON.parse(readFileSync(join(folder, "summary.json"), "utf8"));
    return { code: this.#child.exitCode, folder, summary };
  }

  /** Ends it, should it still run, and takes its folder away. */
  async end() {
    if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
    await this.#closed;
    rmSync(this.#folder, { recursive: true });
  }
}
