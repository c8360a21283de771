import { once } from "node:events";
import { connect, createServer } from "node:net";

/** A TCP proxy in front of a port that can cut what goes through it, and refuse what comes until it is mended. */
export async function startProxy(endpoint) {
  const { hostname, port } = new URL(endpoint);
  const pairs = new Set();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    const pair = [near, far];
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near]]) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = new URL(endpoint);
  address.port = String(server.address().port);
  return {
    endpoint: address.href,
    cut() {
      isCut = true;
      for (const socket of [...pairs].flat()) socket.destroy();
    },
    mend() {
      isCut = false;
    },
    end() {
      this.cut();
      server.close();
    },
  };
}
