// Sends every WebSocket message back. PORT chooses the port, 0 (the default) any free one.

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT ?? 0),
  fetch(request, server) {
    if (server.upgrade(request)) return;
    return new Response("A WebSocket is expected here.\n", { status: 400 });
  },
  websocket: {
    idleTimeout: 0,
    sendPings: false,
    perMessageDeflate: false,
    message(socket, message) {
      socket.send(message);
    },
  },
});

console.log(`listening ${server.hostname}:${server.port}`);
process.stdin.on("end", () => process.exit(0)).resume();
