import type { RoomEvent } from "../protocol/events";
import type { Presence, Status } from "../protocol/wire";

/** Who is here, as far as the server tells: by person, or only a number where the crowd is too big for that. */
export type People =
  | { readonly kind: "unknown" }
  | { readonly kind: "listed"; readonly people: ReadonlyMap<string, Status> }
  | { readonly kind: "counted"; readonly count: number };

export const nobodyYet: People = { kind: "unknown" };

/** A number turns back into a list only by a full list: a change alone would build on one that is out of date. */
export function reducePeople(people: People, event: RoomEvent): People {
  switch (event.type) {
    case "people_listed":
      return { kind: "listed", people: event.people.reduce(note, new Map()) };
    case "person_changed":
      return people.kind === "listed" ? { kind: "listed", people: note(people.people, event.presence) } : people;
    case "people_counted":
      return { kind: "counted", count: event.count };
    case "opened":
    case "closed":
    case "joined":
    case "refused":
    case "interrupted":
    case "removed":
    case "page":
    case "earlier":
    case "said":
    case "changed":
    case "reacted":
    case "named":
      return people;
  }
}

export function headcount(people: People): number | undefined {
  switch (people.kind) {
    case "unknown":
      return undefined;
    case "listed":
      return people.people.size;
    case "counted":
      return people.count;
  }
}

function note(people: ReadonlyMap<string, Status>, { person, status }: Presence): ReadonlyMap<string, Status> {
  const noted = new Map(people);
  if (status === "offline") noted.delete(person);
  else noted.set(person, status);
  return noted;
}
