/**
 * Payloads of the messenger's topics, from `unknown` to what the page believes.
 * A payload that is not what it should be yields `undefined`, and its reader drops it.
 */

/** How often an emoji was given. */
export type Tally = { readonly emoji: string; readonly count: number };

export type Message = {
  /** Its place in the room: 1, 2, 3, … without a hole. */
  readonly seq: number;
  readonly sender: string;
  readonly text: string;
  /** When it was stored, in milliseconds of Unix time. */
  readonly at: number;
  readonly edited: boolean;
  /** A tombstone: its text is gone, its place stays. */
  readonly deleted: boolean;
  readonly reactions: readonly Tally[];
};

export type Status = "online" | "away" | "busy" | "offline";

export type Presence = { readonly person: string; readonly status: Status };

/** How people are told apart, and what they are called. */
export type Profile = { readonly person: string; readonly name: string; readonly guest: boolean };

/** The answer to a room's join. */
export type Joined = {
  readonly me: Profile;
  /** For a guest: what to come back with. */
  readonly token: string | undefined;
  readonly epoch: string;
  readonly title: string;
  readonly revision: number;
  readonly messages: readonly Message[];
  readonly more: boolean;
  /** Whether the messages are exactly those that were missed. */
  readonly recovered: boolean;
  readonly changed: readonly Message[];
  readonly count: number;
  readonly people: readonly Presence[] | undefined;
};

/** An error reply: `{"code": string, "message": string}`. */
export type Fault = { readonly code: string; readonly message: string };

const STATUSES: readonly string[] = ["online", "away", "busy", "offline"] satisfies Status[];

export function parseMessage(payload: unknown): Message | undefined {
  if (!isRecord(payload)) return undefined;
  const { seq, sender, text, at } = payload;
  if (!isPlace(seq) || typeof sender !== "string" || typeof text !== "string" || typeof at !== "number") {
    return undefined;
  }
  return {
    seq,
    sender,
    text,
    at,
    edited: typeof payload["edited"] === "number",
    deleted: isRecord(payload["deleted"]),
    reactions: parseTallies(payload["reactions"]),
  };
}

export function parseMessages(payload: unknown): Message[] {
  return list(payload).map(parseMessage).filter((message) => message !== undefined);
}

/** `react`: what a message has now. */
export function parseReactions(payload: unknown): { seq: number; reactions: Tally[] } | undefined {
  if (!isRecord(payload) || !isPlace(payload["seq"])) return undefined;
  return { seq: payload["seq"], reactions: parseTallies(payload["reactions"]) };
}

/** `presence`: `{"person": string, "status": string}`. */
export function parsePresence(payload: unknown): Presence | undefined {
  if (!isRecord(payload)) return undefined;
  const { person, status } = payload;
  return typeof person === "string" && isStatus(status) ? { person, status } : undefined;
}

/** `profile`: `{"person": string, "profile": {"name": string, "guest": boolean}}`. */
export function parseProfile(payload: unknown): Profile | undefined {
  if (!isRecord(payload)) return undefined;
  const { person, profile } = payload;
  if (typeof person !== "string" || !isRecord(profile) || typeof profile["name"] !== "string") return undefined;
  return { person, name: profile["name"], guest: profile["guest"] === true };
}

/** `head`: `{"seq": number}`. */
export function parseHead(payload: unknown): number | undefined {
  return isRecord(payload) && isPlace(payload["seq"]) ? payload["seq"] : undefined;
}

/** `history`: `{"messages": […], "more": boolean}`. */
export function parsePage(response: unknown): { messages: Message[]; more: boolean } {
  if (!isRecord(response)) return { messages: [], more: false };
  return { messages: parseMessages(response["messages"]), more: response["more"] === true };
}

export function parseJoined(response: unknown): Joined | undefined {
  if (!isRecord(response)) return undefined;
  const { me, conversation, epoch } = response;
  if (!isRecord(me) || !isRecord(conversation) || typeof epoch !== "string") return undefined;
  const profile = parseProfile({ person: me["id"], profile: me["profile"] });
  if (profile === undefined) return undefined;
  const presence = record(response["presence"]);
  return {
    me: profile,
    token: typeof me["token"] === "string" ? me["token"] : undefined,
    epoch,
    title: typeof conversation["title"] === "string" ? conversation["title"] : "",
    revision: typeof conversation["revision"] === "number" ? conversation["revision"] : 0,
    ...parsePage(response),
    recovered: response["recovered"] === true,
    changed: parseMessages(response["changed"]),
    count: typeof presence["count"] === "number" ? presence["count"] : 0,
    people: Array.isArray(presence["people"])
      ? list(presence["people"]).map(parsePresence).filter((each) => each !== undefined)
      : undefined,
  };
}

/** The answer to `token:refresh`. */
export function parseToken(response: unknown): string | undefined {
  return isRecord(response) && typeof response["token"] === "string" ? response["token"] : undefined;
}

export function parseFault(response: unknown): Fault {
  const { code, message } = record(response);
  return {
    code: typeof code === "string" ? code : "unknown",
    message: typeof message === "string" ? message : "no reason given",
  };
}

function parseTallies(payload: unknown): Tally[] {
  return list(payload).flatMap((tally) => {
    if (!isRecord(tally)) return [];
    const { emoji, count } = tally;
    return typeof emoji === "string" && typeof count === "number" ? [{ emoji, count }] : [];
  });
}

function isStatus(value: unknown): value is Status {
  return typeof value === "string" && STATUSES.includes(value);
}

function isPlace(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
