import { nameOf } from "../room/names";
import type { RoomState } from "../room/state";
import { BlockIcon, TabsIcon } from "./icons";
import type { MenuItem } from "./menu";

export type Blocking = {
  readonly block: (person: string, on: boolean) => void;
  /** Asks before it happens. */
  readonly onBlock: (person: string) => void;
};

/** What can be done with somebody who is here. */
export function personItems(
  person: string,
  state: RoomState,
  onWrite: (person: string) => void,
  blocking: Blocking,
): MenuItem[] {
  const write = { words: "Send a direct message", icon: <TabsIcon />, onChoose: () => { onWrite(person); } };
  return [write, ...blockItem(person, state, blocking)];
}

/** What it does is asked about before; to take it back harms nobody. The server's own people are not to be blocked. */
export function blockItem(person: string, { names, blocks }: RoomState, { block, onBlock }: Blocking): MenuItem[] {
  if (person.startsWith("~")) return [];
  const name = nameOf(names, person);
  return [
    blocks.has(person)
      ? { words: `Unblock ${name}`, icon: <BlockIcon />, onChoose: () => { block(person, false); } }
      : { words: `Block ${name}…`, icon: <BlockIcon />, onChoose: () => { onBlock(person); } },
  ];
}
