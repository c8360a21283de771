import { expect, test } from "vitest";
import { InTurn } from "./in-turn";

test("a few run at once, the others in the order in which they came", async () => {
  const turns = new InTurn(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const done = [1, 2, 3, 4].map(
    (n) =>
      new Promise<void>((finished) => {
        turns.run(async () => {
          begun.push(n);
          await new Promise<void>((end) => ends.push(end));
          finished();
        });
      }),
  );
  expect(begun).toEqual([1, 2]);
  ends[1]?.();
  await done[1];
  await Promise.resolve();
  expect(begun).toEqual([1, 2, 3]);
  ends[0]?.();
  ends[2]?.();
  await Promise.all([done[0], done[2]]);
  await Promise.resolve();
  expect(begun).toEqual([1, 2, 3, 4]);
});

test("a task that fails lets the next one go", async () => {
  const turns = new InTurn(1);
  const failed = Promise.reject(new Error("no"));
  failed.catch(() => undefined);
  turns.run(() => failed.catch(() => undefined));
  await new Promise<void>((ran) => {
    turns.run(() => {
      ran();
      return Promise.resolve();
    });
  });
});
