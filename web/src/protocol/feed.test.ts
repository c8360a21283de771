import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Answer } from "./ask";
import type { RoomEvent } from "./events";
import { noAnswer, parseFault } from "./fault";
import { Feed } from "./feed";
import { parseJoined, type Joined } from "./joined";
import { conversation, sample, written } from "./message.sample";

/** A feed whose questions are answered by hand. */
class Scene {
  readonly told: string[] = [];
  readonly asked: object[] = [];
  readonly #answers: ((answer: Answer) => void)[] = [];
  readonly feed = new Feed(
    (_, payload) =>
      new Promise((resolve) => {
        this.asked.push(payload);
        this.#answers.push(resolve);
      }),
    (event) => { this.told.push(brief(event)); },
  );

  async answer(answer: Answer): Promise<void> {
    this.#answers.shift()?.(answer);
    // What is done with an answer is done behind a promise.
    await new Promise((settled) => { setTimeout(settled); });
  }
}

function brief(event: RoomEvent): string {
  if (event.type === "page") {
    const lost = event.lost === undefined ? "" : ` lost: ${event.lost}`;
    return `page ${event.messages.map(({ seq }) => seq).join(" ")}${lost}`;
  }
  return event.type === "said" || event.type === "changed" ? `${event.type} ${event.message.seq}` : event.type;
}

function joined(more: object): Joined {
  const me = { id: "ann", profile: { name: "Ann" } };
  const parsed = parseJoined({ me, epoch: "e", messages: [], changed: [], conversation: conversation(1, 0), ...more });
  if (parsed === undefined) throw new Error("that is no answer to a join");
  return parsed;
}

function page(messages: object[], more: boolean, about: object): Answer {
  return { ok: true, response: { messages, more, conversation: about } };
}

test("a first join says nothing of where one stood, a later one does", () => {
  const { feed } = new Scene();
  expect(feed.position).toEqual({});
  feed.stand(joined({ messages: [written(1), written(2)], conversation: conversation(1, 2, 5) }));
  feed.arrived([sample(3)]);
  expect(feed.position).toEqual({ recover: { epoch: "e", seq: 3, revision: 5 } });
});

test("what was missed follows what was known, without holes and each once", () => {
  const { feed, told } = new Scene();
  feed.stand(joined({ messages: [written(1)], conversation: conversation(1, 1) }));
  const missed = [written(2), written(3)];
  feed.stand(joined({ recovered: true, messages: missed, changed: [written(1)], conversation: conversation(1, 3, 2) }));
  feed.arrived([sample(3), sample(4)]);
  expect(told).toEqual(["page 1", "said 2", "said 3", "changed 1", "said 4"]);
});

test("a message that jumps ahead waits, and those between are asked for until they are all there", async () => {
  const scene = new Scene();
  const { feed, told, asked } = scene;
  feed.stand(joined({ conversation: conversation(1, 0) }));
  feed.arrived([sample(4)]);
  expect(asked).toEqual([{ after: 0, limit: 200 }]);
  await scene.answer(page([written(1), written(2)], true, conversation(1, 4)));
  expect(asked).toHaveLength(2);
  await scene.answer(page([written(3)], false, conversation(1, 4)));
  expect(told).toEqual(["page ", "said 1", "said 2", "said 3", "said 4"]);
});

test("a head that is further on has what was lost asked for, and an answer that brings nothing ends it", async () => {
  const scene = new Scene();
  scene.feed.stand(joined({ messages: [written(1)], conversation: conversation(1, 1) }));
  scene.feed.head(1);
  expect(scene.asked).toEqual([]);
  scene.feed.head(3);
  await scene.answer({ ok: false, fault: noAnswer });
  expect(scene.asked).toHaveLength(1);
  scene.feed.head(3);
  await scene.answer(page([written(2), written(3)], false, conversation(1, 3)));
  expect(scene.told).toEqual(["page 1", "said 2", "said 3"]);
});

test("what the room does not keep any more leaves no hole", async () => {
  const scene = new Scene();
  scene.feed.stand(joined({ messages: [], conversation: conversation(43, 42) }));
  scene.feed.arrived([sample(43)]);
  expect(scene.told).toEqual(["page ", "said 43"]);
  scene.feed.arrived([sample(60)]);
  await scene.answer(page([written(59), written(60)], false, conversation(59, 60)));
  expect(scene.told.slice(2)).toEqual(["said 59", "said 60"]);
});

test("an answer to what was asked before the last join is none any more", async () => {
  const scene = new Scene();
  scene.feed.stand(joined({ conversation: conversation(1, 0) }));
  scene.feed.head(2);
  scene.feed.stand(joined({ messages: [written(9)], conversation: conversation(1, 9) }));
  await scene.answer(page([written(1), written(2)], false, conversation(1, 2)));
  expect(scene.told).toEqual(["page ", "page 9 lost: unknown"]);
});

test("changes that were told one after the other move the position, and a leap has those between asked for", async () => {
  const scene = new Scene();
  const { feed, asked, told } = scene;
  feed.stand(joined({ conversation: conversation(1, 9, 5) }));
  const hear = (revision: number): void => { feed.changed({ type: "changed", message: sample(1, { revision }) }, 1, revision); };
  hear(6);
  hear(6);
  expect(asked).toEqual([]);
  hear(9);
  expect(asked).toEqual([{ changed: 6, limit: 200 }]);
  await scene.answer(page([written(2, { revision: 8 })], true, conversation(1, 9, 9)));
  expect(asked[1]).toEqual({ changed: 8, limit: 200 });
  await scene.answer(page([written(3, { revision: 9 })], false, conversation(1, 9, 9)));
  expect(told.slice(4)).toEqual(["changed 2", "changed 3"]);
  expect(feed.position).toEqual({ recover: { epoch: "e", seq: 9, revision: 9 } });
});

test("a revision that was told without its change has that asked for, also where it is the next", async () => {
  const scene = new Scene();
  const { feed, asked, told } = scene;
  feed.stand(joined({ conversation: conversation(1, 9, 5) }));
  feed.standsAt(5, 0);
  expect(asked).toEqual([]);
  feed.standsAt(6, 0);
  expect(asked).toEqual([{ changed: 5, limit: 200 }]);
  await scene.answer(page([written(2, { revision: 6 })], false, conversation(1, 9, 6)));
  expect(told.slice(1)).toEqual(["changed 2"]);
});

test("a revision that is told while changes are on their way is asked for after them", async () => {
  const scene = new Scene();
  const { feed, asked, told } = scene;
  feed.stand(joined({ conversation: conversation(1, 9, 5) }));
  feed.standsAt(6, 0);
  feed.standsAt(7, 2000);
  expect(asked).toHaveLength(1);
  await scene.answer(page([written(2, { revision: 6 })], false, conversation(1, 9, 6)));
  expect(asked[1]).toEqual({ changed: 6, limit: 200 });
  await scene.answer(page([written(3, { revision: 7 })], false, conversation(1, 9, 7)));
  expect(told.slice(1)).toEqual(["changed 2", "changed 3"]);
  expect(asked).toHaveLength(2);
});

test("a page of changes that was read before one that is told by now does not lead back", async () => {
  const scene = new Scene();
  const { feed } = scene;
  feed.stand(joined({ conversation: conversation(1, 9, 5) }));
  feed.standsAt(6, 0);
  for (const revision of [6, 7]) feed.changed({ type: "changed", message: sample(1, { revision }) }, 1, revision);
  await scene.answer(page([written(1, { revision: 6 })], false, conversation(1, 9, 6)));
  expect(feed.position).toEqual({ recover: { epoch: "e", seq: 9, revision: 7 } });
  expect(scene.asked).toHaveLength(1);
});

describe("with a clock", () => {
  beforeEach(() => { vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }); });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  const busy = { ok: false, fault: parseFault({ code: "busy" }) } as const;

  test("changes that were refused are asked for again by and by, as long as that may help and the talk stands", async () => {
    const scene = new Scene();
    const answer = async (given: Answer): Promise<void> => {
      void scene.answer(given);
      await vi.advanceTimersByTimeAsync(0);
    };
    scene.feed.stand(joined({ conversation: conversation(1, 9, 5) }));
    scene.feed.standsAt(6, 0);
    await answer(busy);
    expect(scene.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.asked).toEqual([{ changed: 5, limit: 200 }, { changed: 5, limit: 200 }]);
    await answer(page([written(2, { revision: 6 })], false, conversation(1, 9, 6)));
    expect(scene.told.slice(1)).toEqual(["changed 2"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.asked).toHaveLength(2);

    scene.feed.standsAt(7, 0);
    for (let times = 0; times < 100; times += 1) {
      await answer(busy);
      await vi.advanceTimersByTimeAsync(60_000);
    }
    expect(scene.asked).toHaveLength(2 + 21);

    scene.feed.standsAt(8, 2000);
    scene.feed.rest();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.asked).toHaveLength(2 + 21);
  });

  test("who is told what everybody is told asks for it once, at a moment of their own", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.75);
    const scene = new Scene();
    scene.feed.stand(joined({ conversation: conversation(1, 9, 5) }));
    scene.feed.standsAt(6, 2000);
    await vi.advanceTimersByTimeAsync(1400);
    scene.feed.standsAt(8, 2000);
    expect(scene.asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(scene.asked).toEqual([{ changed: 5, limit: 200 }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.asked).toHaveLength(1);
  });

  test("nothing is asked for that is told meanwhile, and a leap waits for nothing", async () => {
    const scene = new Scene();
    const hear = (revision: number): void => {
      scene.feed.changed({ type: "changed", message: sample(1, { revision }) }, 1, revision);
    };
    scene.feed.stand(joined({ conversation: conversation(1, 9, 5) }));
    scene.feed.standsAt(6, 2000);
    hear(6);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.asked).toEqual([]);
    scene.feed.standsAt(7, 2000);
    hear(8);
    expect(scene.asked).toEqual([{ changed: 6, limit: 200 }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.asked).toHaveLength(1);
  });
});

test("who is far behind with changes gets the newest page instead, and is told", async () => {
  const scene = new Scene();
  const { feed, asked, told } = scene;
  feed.stand(joined({ conversation: conversation(1, 9, 5) }));
  feed.standsAt(1006, 0);
  expect(asked).toEqual([{}]);
  await scene.answer(page([written(9)], true, conversation(1, 9, 1006)));
  expect(told.slice(1)).toEqual(["page 9 lost: too_many"]);
  expect(feed.position).toEqual({ recover: { epoch: "e", seq: 9, revision: 1006 } });
  expect(asked).toHaveLength(1);
});

test("a change of a message that has not had its turn follows it", async () => {
  const scene = new Scene();
  const { feed, told } = scene;
  feed.stand(joined({ conversation: conversation(1, 0) }));
  feed.arrived([sample(2)]);
  feed.changed({ type: "edited", message: sample(2, { revision: 1 }) }, 2, 1);
  expect(told).toEqual(["page "]);
  await scene.answer(page([written(1)], false, conversation(1, 2)));
  expect(told.slice(1)).toEqual(["said 1", "said 2", "edited"]);
  expect(feed.position).toEqual({ recover: { epoch: "e", seq: 2, revision: 1 } });
});

test("what does not come is asked for again by and by, until the talk is left", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const scene = new Scene();
    const settled = () => vi.advanceTimersByTimeAsync(0);
    scene.feed.stand(joined({ conversation: conversation(1, 0) }));
    scene.feed.head(1);
    void scene.answer({ ok: false, fault: noAnswer });
    await settled();
    expect(scene.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.asked).toHaveLength(2);
    void scene.answer({ ok: false, fault: noAnswer });
    await settled();
    scene.feed.rest();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(scene.asked).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test("who is far behind gets the newest page, and is told", async () => {
  const scene = new Scene();
  scene.feed.stand(joined({ messages: [written(1)], conversation: conversation(1, 1) }));
  scene.feed.head(5000);
  expect(scene.asked).toEqual([{}]);
  await scene.answer(page([written(4999), written(5000)], true, conversation(1, 5000)));
  expect(scene.told).toEqual(["page 1", "page 4999 5000 lost: too_many"]);
});

test("a rejoin that brings another page says why", () => {
  const { feed, told } = new Scene();
  feed.stand(joined({ messages: [written(1)], conversation: conversation(1, 1) }));
  feed.stand(joined({ recovered: false, reason: "epoch", messages: [written(1)], conversation: conversation(1, 1) }));
  expect(told).toEqual(["page 1", "page 1 lost: epoch"]);
});
