import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { within } from "./deadline.js";

const TARGET = fileURLToPath(new URL("../../../target/debug/", import.meta.url));
const THRONG = process.env.THRONG_BIN ?? join(TARGET, "throng");
const FIXTURE = process.env.FIXTURE_BIN ?? join(TARGET, "examples", "conformance");
const OUTPUT_CHARACTERS_MAX = 4000;
const POLL_MS = 20;
// Below the ports that Linux gives to outgoing connections, one of which would else take a server's between two starts.
const PORTS_FIRST = 10_000;
const PORTS = 22_000;
// Each process of tests begins elsewhere.
let nextPort = process.pid * 61;

/** `throng serve` on a free port, with a data folder of its own. It can be stopped and started again in place. */
export async function startThrong(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), "throng-clients-"));
  const [port, adminPort] = [await freePort(), await freePort()];
  const environment = {
    // Where the server would look for a configuration file of this machine.
    XDG_CONFIG_HOME: folder,
    THRONG_LISTEN: `127.0.0.1:${port}`,
    THRONG_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
    THRONG_DATA_DIR: folder,
    // Connections are closed spread over this time when the server ends: nobody here wants to wait.
    THRONG_SHUTDOWN_SPREAD: "100ms",
    ...settings,
  };
  const server = new Server(THRONG, ["serve"], environment, port, isHealthy);
  await server.start();
  return {
    ...addresses(port),
    metrics: `http://127.0.0.1:${adminPort}/metrics`,
    folder,
    operate: (method, path, body) => operate(adminPort, folder, method, path, body),
    /** What a command of the operator's says. */
    command: (...words) => execFileSync(THRONG, words, { env: own(environment), encoding: "utf8", stdio: "pipe" }),
    pid: () => server.pid,
    start: () => server.start(),
    stop: () => server.stop(),
    async end() {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Asks the messenger's API as the operator; the answer's JSON. */
async function operate(port, folder, method, path, body) {
  const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** The conformance fixture on a free port. */
export async function startFixture() {
  const port = await freePort();
  const server = new Server(FIXTURE, ["--port", String(port)], {}, port, (process) => process.says("listening on"));
  await server.start();
  return { ...addresses(port, "patient"), end: () => server.stop() };
}

function addresses(port, mount = "socket") {
  return { page: `http://127.0.0.1:${port}/`, socket: `ws://127.0.0.1:${port}/${mount}` };
}

class Server {
  #binary;
  #parameters;
  #environment;
  #port;
  #isReady;
  #child;
  #exited;
  #output = "";

  constructor(binary, parameters, environment, port, isReady) {
    if (!existsSync(binary)) throw new Error(`${binary} is missing: build it, or name another (see README.md)`);
    this.#binary = binary;
    this.#parameters = parameters;
    this.#environment = environment;
    this.#port = port;
    this.#isReady = isReady;
  }

  async start() {
    this.#output = "";
    const child = spawn(this.#binary, this.#parameters, {
      env: own(this.#environment),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.#exited = once(child, "exit");
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => {
        this.#output = (this.#output + text).slice(-OUTPUT_CHARACTERS_MAX);
      });
    }
    await within(this.#untilReady(), `${this.#binary} is ready`);
  }

  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGTERM");
    await within(this.#exited, `${this.#binary} ends after SIGTERM`);
  }

  get pid() {
    return this.#child.pid;
  }

  says(text) {
    return this.#output.includes(text);
  }

  async #untilReady() {
    while (!(await this.#isReady(this, this.#port))) {
      if (this.#child.exitCode !== null) throw new Error(`${this.#binary} ended early:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** The server takes each `THRONG_…` for a setting: those of the tests, and of whoever runs them, stay here. */
function own(environment) {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith("THRONG_"));
  return { ...Object.fromEntries(others), ...environment };
}

async function isHealthy(_server, port) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`);
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

/** A port that nobody listens on, and that is given once. */
async function freePort() {
  for (;;) {
    const port = PORTS_FIRST + (nextPort++ % PORTS);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
