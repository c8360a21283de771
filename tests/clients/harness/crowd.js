// Phoenix clients by the dozen, for programs that are not JavaScript: what happens to them is told on standard output, a
// JSON object a line, until standard input ends.
//
//     node crowd.js ENDPOINT COUNT
import { connect, newest } from "./clients.js";

const [endpoint, count] = [process.argv[2], Number(process.argv[3])];

function tell(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

const ends = [];
const life = { after: (end) => ends.push(end) };

for (let client = 0; client < count; client += 1) {
  const socket = connect(life, newest, endpoint);
  socket.onClose(({ code }) => tell({ client, event: "closed", code }));
  socket.onError(() => tell({ client, event: "failed" }));
  const channel = socket.channel(`rooms:${client}`, {});
  channel.join()
    .receive("ok", () => tell({ client, event: "joined" }))
    .receive("error", () => tell({ client, event: "refused" }));
}

process.stdin.resume();
process.stdin.on("end", () => {
  ends.forEach((end) => end());
  // The clients' timers go on.
  process.exit(0);
});
