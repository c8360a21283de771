import { within } from "./deadline.js";

/** What a push came to: `{status: "ok" | "error" | "timeout", response}`. */
export function answer(push) {
  const answered = new Promise((resolve) => {
    for (const status of ["ok", "error", "timeout"]) {
      push.receive(status, (response) => resolve({ status, response }));
    }
  });
  return within(answered, `an answer to ${push.event}`);
}

/** Joins, and insists that it worked. */
export async function joined(socket, topic, parameters = {}) {
  const channel = socket.channel(topic, parameters);
  const { status, response } = await answer(channel.join());
  if (status !== "ok") throw new Error(`${topic}: ${status} ${JSON.stringify(response)}`);
  return channel;
}

/** Happenings in their order: each `next()` takes one, waiting for it if need be. */
export class Inbox {
  #name;
  #kept = [];
  #waiting = [];

  constructor(name) {
    this.#name = name;
  }

  /** The payloads of an event of a channel. */
  static of(channel, event) {
    const inbox = new Inbox(`${event} on ${channel.topic}`);
    channel.on(event, (payload) => inbox.add(payload));
    return inbox;
  }

  add(item) {
    const taker = this.#waiting.shift();
    if (taker) taker(item);
    else this.#kept.push(item);
  }

  next() {
    if (this.#kept.length > 0) return Promise.resolve(this.#kept.shift());
    return within(new Promise((resolve) => this.#waiting.push(resolve)), this.#name);
  }

  /** Takes until one is as wanted, and returns it. */
  async until(isWanted) {
    for (;;) {
      const item = await this.next();
      if (isWanted(item)) return item;
    }
  }

  /** How many nobody has taken yet. */
  get length() {
    return this.#kept.length;
  }
}
