// Phoenix clients by the dozen, for programs that are not JavaScript: what happens to them is told on standard output, a
// JSON object a line, until standard input ends. A line there, {"client": 0, "body": "…"}, is what one of them says.
//
//     node crowd.js ENDPOINT COUNT [websocket|longpoll] [TOPIC]
//
// Without a topic each has a room of its own.
import { createInterface } from "node:readline";
import { connect, newest } from "./clients.js";

const [endpoint, count, transport = "websocket", topic] = process.argv.slice(2);

function tell(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

const ends = [];
const life = { after: (end) => ends.push(end) };
const options = transport === "longpoll" ? { transport: newest.LongPoll } : {};

const channels = Array.from({ length: Number(count) }, (_, client) => {
  const socket = connect(life, newest, endpoint, options);
  socket.onClose(({ code }) => tell({ client, event: "closed", code }));
  socket.onError(() => tell({ client, event: "failed" }));
  const channel = socket.channel(topic ?? `rooms:${client}`, {});
  channel.on("new_msg", ({ body }) => tell({ client, event: "heard", body }));
  channel.join()
    .receive("ok", () => tell({ client, event: "joined" }))
    .receive("error", () => tell({ client, event: "refused" }));
  return channel;
});

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { client, body } = JSON.parse(line);
  channels[client].push("new_msg", { body })
    .receive("ok", () => tell({ client, event: "accepted", body }))
    .receive("error", () => tell({ client, event: "rejected", body }));
});
lines.on("close", () => {
  ends.forEach((end) => end());
  // The clients' timers go on.
  process.exit(0);
});
