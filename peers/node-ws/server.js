// `/broadcast` sends each message to everybody there; every other path sends it back.

import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { WebSocketServer } from "ws";

const { values } = parseArgs({ options: { port: { type: "string" } } });
const BACKLOG = 8192;
const MESSAGE_BYTES_MAX = 1024 * 1024;

const sockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  clientTracking: false,
  maxPayload: MESSAGE_BYTES_MAX,
});
const audience = new Set();

function echo(data, isBinary) {
  this.send(data, { binary: isBinary });
}

function broadcast(data, isBinary) {
  const options = { binary: isBinary };
  for (const socket of audience) socket.send(data, options);
}

function leave() {
  audience.delete(this);
}

// A peer that breaks the protocol or goes away costs its own connection, and "close" follows.
function ignore() {}

const server = createServer((_request, response) => {
  response.writeHead(426).end("A WebSocket is expected here.\n");
});
server.on("upgrade", (request, connection, head) => {
  sockets.handleUpgrade(request, connection, head, (socket) => {
    socket.on("error", ignore);
    if (request.url === "/broadcast") {
      audience.add(socket);
      socket.on("close", leave);
      socket.on("message", broadcast);
    } else {
      socket.on("message", echo);
    }
  });
});
server.listen({ host: "127.0.0.1", port: Number(values.port), backlog: BACKLOG });
