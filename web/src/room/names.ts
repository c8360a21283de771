import type { RoomEvent } from "../protocol/events";

/** How people are called, as far as it is known. Names are not unique, and guests choose theirs. */
export type Names = ReadonlyMap<string, { readonly name: string; readonly guest: boolean }>;

/** Names kept; past it the one that was told longest ago goes. */
export const NAMES_MAX = 5000;

export const noNames: Names = new Map();

export function reduceNames(names: Names, event: RoomEvent): Names {
  if (event.type !== "named") return names;
  const { person, name, guest } = event.profile;
  const known = names.get(person);
  if (known?.name === name && known.guest === guest) return names;
  const next = new Map(names);
  // Told anew, it is the newest.
  next.delete(person);
  next.set(person, { name, guest });
  const [oldest] = next.keys();
  if (next.size > NAMES_MAX && oldest !== undefined) next.delete(oldest);
  return next;
}

/** People of the server's own have no profile. */
const RESERVED = new Map([
  ["~service", "The site"],
  ["~erased", "Deleted account"],
]);

export function nameOf(names: Names, person: string): string {
  return names.get(person)?.name ?? RESERVED.get(person) ?? "…";
}
