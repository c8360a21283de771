import { fields, text } from "./payload";

const STATUSES = ["online", "away", "busy", "offline"] as const;
/** From the least. */
const ROLES = ["guest", "member", "moderator", "owner"] as const;

export type Status = (typeof STATUSES)[number];
export type Role = (typeof ROLES)[number];

export type Presence = { readonly person: string; readonly status: Status };

/** How people are told apart, and what they are called. */
export type Profile = {
  readonly person: string;
  readonly name: string;
  readonly guest: boolean;
  /** A role in all rooms of the community, at least. */
  readonly role: Role | undefined;
};

/** `presence`: `{"person": string, "status": string}`. */
export function parsePresence(payload: unknown): Presence | undefined {
  const { person, status } = fields(payload);
  const known = STATUSES.find((each) => each === status);
  return typeof person === "string" && known !== undefined ? { person, status: known } : undefined;
}

/** `profile`: `{"person": string, "profile": {"name": string, "guest": boolean, "role": string | null}}`. */
export function parseProfile(payload: unknown): Profile | undefined {
  const { person, profile } = fields(payload);
  const { name, guest, role } = fields(profile);
  if (typeof person !== "string" || typeof name !== "string") return undefined;
  return { person, name, guest: guest === true, role: parseRole(role) };
}

export function parseRole(value: unknown): Role | undefined {
  return ROLES.find((each) => each === value);
}

/** `member:role`: `{"person": string, "role": string}`. */
export function parseRoleChange(payload: unknown): { person: string; role: Role } | undefined {
  const change = fields(payload);
  const [person, role] = [text(change["person"]), parseRole(change["role"])];
  return person === undefined || role === undefined ? undefined : { person, role };
}

/** `typing`: `{"person": string, "on": boolean}`. */
export function parseTyping(payload: unknown): { person: string; on: boolean } | undefined {
  const { person, on } = fields(payload);
  return typeof person === "string" && typeof on === "boolean" ? { person, on } : undefined;
}

/** The higher of two roles. */
export function higher(one: Role | undefined, other: Role | undefined): Role | undefined {
  return rank(one) >= rank(other) ? one : other;
}

export function isAbove(one: Role | undefined, other: Role | undefined): boolean {
  return rank(one) > rank(other);
}

/** Who has no role is below all. */
function rank(role: Role | undefined): number {
  return role === undefined ? -1 : ROLES.indexOf(role);
}
