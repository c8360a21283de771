import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
import * as phoenix18 from "phoenix";
import WebSocket from "ws";
import XMLHttpRequest from "xmlhttprequest-ssl";
import { DEADLINE_MS } from "./deadline.js";

/**
 * The client in the versions that are tested. All speak through `ws`; for long-polling 1.8 uses Node's `fetch`, the old
 * ones an XMLHttpRequest.
 */
export const clients = [
  { name: "phoenix 1.8", vsn: "2.0.0", retryMs: 50, ...phoenix18 },
  // A join that is repeated while the first is unanswered is answered once. It gets time.
  { name: "phoenix 1.3", vsn: "2.0.0", retryMs: 300, ...loadOld("phoenix-1.3") },
  // V1 has no join_ref: such a join is ended by the first one's close. It gets more.
  { name: "phoenix 1.2", vsn: "1.0.0", retryMs: 1000, ...loadOld("phoenix-1.2") },
];

export const [newest] = clients;

/** 1.2 wants polled messages as objects; every server since sends each one as a string, as 1.3 and later want it. */
export const pollingClients = clients.filter(({ vsn }) => vsn !== "1.0.0");

/** Old builds expect a browser: they get a `window` of their own, the source stays as published. */
function loadOld(packageName) {
  const path = createRequire(import.meta.url).resolve(packageName);
  const window = { WebSocket, XMLHttpRequest };
  const exports = {};
  const parameters = ["exports", "window", "XMLHttpRequest"];
  compileFunction(readFileSync(path, "utf8"), parameters, { filename: path })(exports, window, XMLHttpRequest);
  return exports;
}

/**
 * A connected socket of one client version, as a test wants it: quick retries, much time for an answer, and ended with the
 * test.
 */
export function connect(t, client, endpoint, options = {}) {
  const socket = new client.Socket(endpoint, {
    transport: WebSocket,
    timeout: DEADLINE_MS / 2,
    reconnectAfterMs: () => client.retryMs,
    rejoinAfterMs: () => client.retryMs,
    ...options,
  });
  socket.connect();
  t.after(() => socket.disconnect());
  return socket;
}
