import type { Socket } from "phoenix";
import { expect, test } from "vitest";
import { conversation } from "./message.sample";
import { OwnPlace } from "./own-place";
import type { Profile } from "./person";

const ann: Profile = { person: "ann", name: "Ann", guest: true, role: undefined };

/** The own topic's channel, whose joins are answered by hand, and other questions at once. */
class OwnChannel {
  readonly asked: string[] = [];
  readonly #heard: { readonly event: string; readonly act: (payload: unknown) => void }[] = [];
  #accept: (response: unknown) => void = () => undefined;

  join(): object {
    return this.#push((accept) => { this.#accept = accept; });
  }

  push(event: string, payload: { readonly conversation?: string }): object {
    this.asked.push(`${event} ${payload.conversation ?? ""}`.trim());
    return this.#push((accept) => { accept({ messages: [], more: false, conversation: conversation(1, 0) }); });
  }

  on(event: string, act: (payload: unknown) => void): number {
    return this.#heard.push({ event, act });
  }

  off(): void {
    // What is over is to tell nothing, also where something is still heard.
  }

  onError(): number {
    return 0;
  }

  leave(): void {
    // Nobody listens.
  }

  /** The server accepts a join. */
  joined(): void {
    this.#accept({ epoch: "e", conversations: [], presence: [] });
  }

  hears(event: string, payload: unknown): void {
    for (const each of this.#heard) if (each.event === event) each.act(payload);
  }

  #push(asked: (accept: (response: unknown) => void) => void): object {
    const push = {
      receive: (status: string, act: (response: unknown) => void): object => {
        if (status === "ok") asked(act);
        return push;
      },
    };
    return push;
  }
}

/** Ann's place, and what each conversation that she opens there is told. */
function enter() {
  const channel = new OwnChannel();
  const socket = { channel: () => channel } as unknown as Socket;
  const own = new OwnPlace({ socket, community: "default", emit: () => undefined, room: () => undefined });
  own.be(ann);
  const open = (id: string) => {
    const told: string[] = [];
    const beside = own.open(id, 0, ({ type }) => told.push(type));
    if (beside === undefined) throw new Error(`${id} cannot be opened`);
    return { told, beside };
  };
  return { own, channel, open };
}

/** What is done with an answer is done behind a promise. */
async function settled(): Promise<void> {
  await new Promise((done) => { setTimeout(done); });
}

test("each conversation that is open is caught up when the own topic is joined, and hears of the connection until it is closed", async () => {
  const { own, channel, open } = enter();
  const [bob, cat] = [open("with-bob"), open("with-cat")];
  channel.joined();
  await settled();
  expect(channel.asked).toEqual(expect.arrayContaining(["history with-bob", "history with-cat"]));
  for (const { told } of [bob, cat]) expect(told).toEqual(["joined", "described", "page"]);
  own.tellAll({ type: "closed", why: undefined });
  own.close(bob.beside);
  own.tellAll({ type: "opened", transport: "websocket" });
  channel.joined();
  await settled();
  expect(bob.told.slice(3)).toEqual(["closed"]);
  expect(cat.told.slice(3)).toEqual(["closed", "opened", "joined", "described"]);
});

test("a conversation that one is not in any more is ended, and no other", () => {
  const { own, channel, open } = enter();
  const [bob, cat] = [open("with-bob"), open("with-cat")];
  channel.hears("member:out", { conversation: "with-bob", person: "ann", why: "left" });
  own.tellAll({ type: "closed", why: undefined });
  expect([bob.told, cat.told]).toEqual([["removed"], ["closed"]]);
});

test("who is somebody else now has nothing open that was another one's", () => {
  const { own, open } = enter();
  const both = [open("with-bob"), open("with-cat")];
  own.be({ ...ann, person: "dan" });
  own.tellAll({ type: "closed", why: undefined });
  expect(both.map(({ told }) => told)).toEqual([["removed"], ["removed"]]);
});
