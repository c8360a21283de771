import type { LobbyEvent } from "../protocol/events";
import type { Person } from "../protocol/wire";

/** Who is here, as far as the server tells: a list, or only a number where the crowd is too big for one. */
export type People =
  | { readonly kind: "unknown" }
  | { readonly kind: "listed"; readonly people: readonly Person[] }
  | { readonly kind: "counted"; readonly count: number };

export const nobodyYet: People = { kind: "unknown" };

/** A number turns back into a list only by a full list: a change alone would build on one that is out of date. */
export function reducePeople(people: People, event: LobbyEvent): People {
  switch (event.type) {
    case "people_listed":
      return { kind: "listed", people: byName(event.people) };
    case "people_changed":
      return people.kind === "counted" ? people : { kind: "listed", people: byName(event.people) };
    case "people_counted":
      return { kind: "counted", count: event.count };
    case "opened":
    case "closed":
    case "joined":
    case "refused":
    case "interrupted":
    case "removed":
    case "message":
      return people;
  }
}

export function headcount(people: People): number | undefined {
  switch (people.kind) {
    case "unknown":
      return undefined;
    case "listed":
      return people.people.length;
    case "counted":
      return people.count;
  }
}

function byName(people: readonly Person[]): readonly Person[] {
  return people.toSorted((a, b) => a.name.localeCompare(b.name) || a.key.localeCompare(b.key));
}
