import type { RoomEvent } from "../protocol/events";

/** Whom one blocks. The server bounds how many. */
export type Blocks = ReadonlySet<string>;

export const noBlocks: Blocks = new Set();

export function reduceBlocks(blocks: Blocks, event: RoomEvent): Blocks {
  if (event.type !== "blocks_changed") return blocks;
  const { change } = event;
  if (change.kind === "listed") return new Set(change.people);
  if (blocks.has(change.person) === change.on) return blocks;
  const next = new Set(blocks);
  if (change.on) next.add(change.person);
  else next.delete(change.person);
  return next;
}
