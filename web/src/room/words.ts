import { NO_ANSWER, type Fault } from "../protocol/fault";

/** Says a moment to a person. */
export type SayMoment = (ms: number) => string;

/** What went wrong, in words, and what can be done about it. */
export function explain(fault: Fault, say: SayMoment): string {
  const words = WORDS[fault.code];
  if (words === undefined) return `That did not work: ${fault.message}.`;
  return typeof words === "string" ? words : words(fault, say);
}

/** The same for who wants to come into a room. */
export function explainEntry(fault: Fault, say: SayMoment): string {
  if (fault.code !== "not_found") return explain(fault, say);
  return "This room does not exist, or you have no access to it. Check the address, or ask for an invitation.";
}

/** Why one may not write. */
export function explainMute(until: number | undefined, say: SayMoment): string {
  return until === undefined
    ? "You are muted here: you can read, but not write. A moderator can unmute you."
    : `You are muted until ${say(until)}: you can read, but not write until then.`;
}

const RELOAD = "This page is out of date. Reload it.";
const SIGN_IN = "Go back to the site that brought you here, and open the room from there again.";

const WORDS: Readonly<Record<string, string | ((fault: Fault, say: SayMoment) => string)>> = {
  [NO_ANSWER]: "The server did not answer, so this may or may not have been done. Try again: nothing is done twice.",
  bad_payload: RELOAD,
  banned: ({ until }, say) =>
    until === undefined ? "You are banned from here." : `You are banned from here until ${say(until)}.`,
  blocked: "One of you has blocked the other.",
  busy: "The server is busy. Nothing was changed: try again in a moment.",
  client_id_reused: "A different message was already sent with the same ID. Copy your text and send it as a new message.",
  community_full: "This community is full. The page retries automatically.",
  deleted: "The message has been deleted.",
  guests_refused: "Guests are not allowed here. Sign in on the site that this community belongs to.",
  internal: "Internal server error. Try again; if the error persists, tell the operator.",
  invalid,
  limit_reached: limitReached,
  muted: ({ until }, say) => explainMute(until, say),
  name_invalid: "This name is not allowed here. Choose another one.",
  no_community: "The address does not name a community. Check it.",
  not_found: "It no longer exists, or you have no access to it.",
  not_permitted: "Your role in this room does not allow this.",
  origin_refused: "This community does not accept visitors from this address. Open it from its own site.",
  overloaded: "Many people are joining right now. The page retries automatically.",
  rate_limited: "Too many requests in a minute. Wait a moment, and try again.",
  refused_by_site: ({ reason }) =>
    reason === undefined ? "The community's site does not allow this." : `The community's site refused this: ${reason}`,
  site_unavailable: "The community's site must approve this, but does not answer. Try again later.",
  slow_mode: ({ retryAfterMs = 0 }) => `Slow mode: your next message can be sent in ${inWords(retryAfterMs)}.`,
  token_expired: `Your sign-in has expired. ${SIGN_IN}`,
  token_invalid: `Your sign-in is not accepted here. ${SIGN_IN}`,
  token_limited: "Your sign-in is not valid for this room. Go back to the site that brought you here.",
  token_revoked: `Your sign-in was revoked. ${SIGN_IN}`,
  token_unverifiable: "Your sign-in cannot be checked right now. The page retries automatically.",
  too_many_devices: "You are connected on too many devices for your conversations to be shown here. Close the page on one of them.",
  unknown_event: RELOAD,
  unavailable: "The server cannot store messages right now. Try again in a moment.",
};

function invalid({ broken, message }: Fault): string {
  return RULES[broken[0]?.rule ?? ""] ?? `This cannot be sent: ${message}.`;
}

const RULES: Readonly<Record<string, string>> = {
  length: "The text is too long or empty. Shorten it, or send it in parts.",
  control_character:
    "The text contains a character that is not allowed, such as one that changes the text direction. Remove it, and try again.",
};

function limitReached({ limit, message }: Fault): string {
  return LIMITS[limit ?? ""] ?? `That is more than this server allows: ${message}.`;
}

const LIMITS: Readonly<Record<string, string>> = {
  blocks_max: "You have blocked the maximum number of people. Unblock somebody first.",
  edits_max: "This message was edited the maximum number of times. Delete it, and write a new one.",
  reactions_max: "This message has the maximum number of different reactions. Use one of them.",
};

function inWords(ms: number): string {
  const seconds = Math.max(Math.ceil(ms / 1000), 1);
  if (seconds === 1) return "a second";
  return seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}
