import { parseConversation, type Conversation } from "./conversation";
import { parseMessage, type Message } from "./message";
import { all, count, fields, text } from "./payload";
import { parsePresence, parseProfile, parseRole, type Presence, type Profile, type Role } from "./person";

/** Messages in their order, and the conversation at that moment. */
export type Page = {
  readonly messages: readonly Message[];
  /** Whether there are more of what was asked for. */
  readonly more: boolean;
  readonly conversation: Conversation;
};

/** One's part in a room. */
export type Member = { readonly role: Role | undefined; readonly read: number };

/** The answer to a room's join. */
export type Joined = Page & {
  readonly me: Profile;
  /** For a guest: what to come back with. */
  readonly token: string | undefined;
  readonly epoch: string;
  /** `undefined` for who only looks. */
  readonly member: Member | undefined;
  /** Whether the messages are exactly those that were missed. */
  readonly recovered: boolean;
  /** Why they are not. */
  readonly reason: string | undefined;
  readonly changed: readonly Message[];
  readonly count: number;
  /** `undefined` where the crowd is too big for a list. */
  readonly people: readonly Presence[] | undefined;
};

/** `history`: `{"messages": […], "more": boolean, "conversation": {…}}`. */
export function parsePage(response: unknown): Page | undefined {
  const page = fields(response);
  const conversation = parseConversation(page["conversation"]);
  if (conversation === undefined) return undefined;
  return { messages: all(page["messages"], parseMessage), more: page["more"] === true, conversation };
}

export function parseJoined(response: unknown): Joined | undefined {
  const joined = fields(response);
  const [page, epoch, me] = [parsePage(response), text(joined["epoch"]), fields(joined["me"])];
  const profile = parseProfile({ person: me["id"], profile: me["profile"] });
  if (page === undefined || epoch === undefined || profile === undefined) return undefined;
  const presence = fields(joined["presence"]);
  return {
    ...page,
    me: profile,
    token: text(me["token"]),
    epoch,
    member: parseMember(joined["member"]),
    recovered: joined["recovered"] === true,
    reason: text(joined["reason"]),
    changed: all(joined["changed"], parseMessage),
    count: count(presence["count"]) ?? 0,
    people: Array.isArray(presence["people"]) ? all(presence["people"], parsePresence) : undefined,
  };
}

function parseMember(payload: unknown): Member | undefined {
  const member = fields(payload);
  const read = count(member["read"]);
  return read === undefined ? undefined : { role: parseRole(member["role"]), read };
}
