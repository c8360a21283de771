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
  return "There is no such room, or it is not open to you. Check the address, or ask who sent it to you for an invitation.";
}

/** Why one may not write. */
export function explainMute(until: number | undefined, say: SayMoment): string {
  return until === undefined
    ? "You are muted here: you can read, but not write. A moderator can lift that."
    : `You are muted until ${say(until)}: you can read, but not write until then.`;
}

const RELOAD = "This page and the server do not understand each other any more. Reload the page.";
const SIGN_IN = "Go back to the site that brought you here, and come in from there again.";

const WORDS: Readonly<Record<string, string | ((fault: Fault, say: SayMoment) => string)>> = {
  [NO_ANSWER]: "No answer came, so it may have arrived or not. Try again: nothing is done twice.",
  bad_payload: RELOAD,
  banned: ({ until }, say) =>
    until === undefined ? "You are banned from here." : `You are banned from here until ${say(until)}.`,
  blocked: "One of you two has blocked the other.",
  busy: "The server has too much to do right now. Nothing happened: try again in a moment.",
  client_id_reused: "Something else was sent under the same mark. Copy your text and send it as a new message.",
  community_full: "There is no room for one more right now. This page tries again by itself.",
  deleted: "The message was deleted meanwhile.",
  guests_refused: "Guests cannot come in here. Come in from the site that this community belongs to.",
  internal: "The server made a mistake. Try again; if it stays like that, tell who runs it.",
  invalid,
  limit_reached: limitReached,
  muted: ({ until }, say) => explainMute(until, say),
  name_invalid: "That name cannot be used here. Choose another one.",
  no_community: "This page does not say which community it belongs to. Check the address.",
  not_found: "It is not here any more, or not open to you.",
  not_permitted: "Your role in this room does not let you do that.",
  origin_refused: "This community takes no visits from this address. Come in from its own site.",
  overloaded: "Many people come in right now. This page tries again by itself.",
  rate_limited: "That was too much in a minute. Wait a moment, and try again.",
  refused_by_site: ({ reason }) =>
    reason === undefined ? "The community's site does not let you do that." : `The community's site says no: ${reason}`,
  site_unavailable: "The community's site has to be asked and does not answer. Try again later.",
  slow_mode: ({ retryAfterMs = 0 }) => `Slow mode: your next message can be sent in ${inWords(retryAfterMs)}.`,
  token_expired: `Your sign-in has ended. ${SIGN_IN}`,
  token_invalid: `Your sign-in is not accepted here. ${SIGN_IN}`,
  token_limited: "Your sign-in is for other rooms than this one. Go back to the site that brought you here.",
  token_revoked: `Your sign-in was withdrawn. ${SIGN_IN}`,
  token_unverifiable: "Your sign-in cannot be checked right now. This page tries again by itself.",
  too_many_devices: "You are here on too many devices. Close this room on another one.",
  unknown_event: RELOAD,
  unavailable: "The server cannot store anything right now. Try again in a moment.",
};

function invalid({ broken, message }: Fault): string {
  return RULES[broken[0]?.rule ?? ""] ?? `This cannot be sent: ${message}.`;
}

const RULES: Readonly<Record<string, string>> = {
  length: "This is too long or empty. Shorten it, or send it in parts.",
  control_character:
    "This has a character that cannot be sent, such as one that turns the direction of writing. Remove it, and try again.",
};

function limitReached({ limit, message }: Fault): string {
  return LIMITS[limit ?? ""] ?? `That is more than this server allows: ${message}.`;
}

const LIMITS: Readonly<Record<string, string>> = {
  blocks_max: "You block as many people as this server allows. Unblock somebody first.",
  edits_max: "This message was edited too often to be edited again. Delete it, and write a new one.",
  reactions_max: "This message has as many different reactions as it can hold. Join one of them.",
};

function inWords(ms: number): string {
  const seconds = Math.max(Math.ceil(ms / 1000), 1);
  if (seconds === 1) return "a second";
  return seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}
