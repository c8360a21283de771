import type { RoomEvent } from "../protocol/events";

/** How people are called, as far as it is known. Names are not unique, and guests choose theirs. */
export type Names = ReadonlyMap<string, { readonly name: string; readonly guest: boolean }>;

export const noNames: Names = new Map();

export function reduceNames(names: Names, event: RoomEvent): Names {
  if (event.type !== "named") return names;
  return new Map(names).set(event.person, { name: event.name, guest: event.guest });
}

/** People of the server's own have no profile. */
const RESERVED = new Map([
  ["~service", "The site"],
  ["~erased", "Somebody who left"],
]);

export function nameOf(names: Names, person: string): string {
  return names.get(person)?.name ?? RESERVED.get(person) ?? "…";
}
