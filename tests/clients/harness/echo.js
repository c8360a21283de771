// Sends every WebSocket message back, with npm ws. Listens on a free port until its standard input ends.

import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
server.on("connection", (socket) => {
  socket.on("message", (message, isBinary) => socket.send(message, { binary: isBinary }));
});
server.on("listening", () => console.log(`listening 127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
