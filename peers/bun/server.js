// `/broadcast` sends each message to everybody there; every other path sends it back.

import { parseArgs } from "node:util";
import { raiseBacklog } from "./backlog.js";

const { values } = parseArgs({ options: { port: { type: "string" } } });
const BACKLOG = 8192;
const MESSAGE_BYTES_MAX = 1024 * 1024;
const TOPIC = "broadcast";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(values.port),
  fetch(request, server) {
    const data = { listens: new URL(request.url).pathname === "/broadcast" };
    if (server.upgrade(request, { data })) return;
    return new Response("A WebSocket is expected here.\n", { status: 426 });
  },
  websocket: {
    idleTimeout: 0,
    sendPings: false,
    perMessageDeflate: false,
    maxPayloadLength: MESSAGE_BYTES_MAX,
    open(socket) {
      if (socket.data.listens) socket.subscribe(TOPIC);
    },
    message(socket, message) {
      if (socket.data.listens) server.publish(TOPIC, message);
      else socket.send(message);
    },
  },
});

raiseBacklog(server.port, BACKLOG);
