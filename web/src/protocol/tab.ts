import { parseConversation, type Conversation } from "./conversation";
import { parseMessage, type Message } from "./message";
import { count, fields, isRecord, text } from "./payload";

/** One line of the conversations tab. */
export type Tab = {
  readonly conversation: Conversation;
  /** The newest message, if one is kept. */
  readonly last: Message | undefined;
  /** Everything up to there was read. */
  readonly read: number;
  readonly unread: number;
  readonly mentions: number;
  readonly muted: boolean;
  readonly archived: boolean;
};

/** What is to change of how one keeps a conversation. */
export type Keeping = { readonly muted: boolean } | { readonly archived: boolean };

/** Where the next lines begin, as the server wrote it. */
export type TabsNext = object;

/** What happens to the conversations tab. */
export type TabChange =
  /** The first lines, in place of all that were known. */
  | { readonly kind: "listed"; readonly tabs: readonly Tab[]; readonly next: TabsNext | undefined }
  /** Those that follow. */
  | { readonly kind: "continued"; readonly tabs: readonly Tab[]; readonly next: TabsNext | undefined }
  /** One line of those that follow, out of turn. */
  | { readonly kind: "found"; readonly tab: Tab }
  /** One is in one more conversation. */
  | { readonly kind: "began"; readonly conversation: Conversation }
  /** One is in it no more, or it was erased. */
  | { readonly kind: "gone"; readonly conversation: string }
  | { readonly kind: "said"; readonly conversation: string; readonly message: Message; readonly mine: boolean; readonly forMe: boolean }
  /** The message was edited or deleted. */
  | { readonly kind: "edited"; readonly conversation: string; readonly message: Message }
  | { readonly kind: "read"; readonly conversation: string; readonly read: number; readonly unread: number }
  | { readonly kind: "kept"; readonly conversation: string; readonly muted: boolean; readonly archived: boolean };

/** `{"conversation": {…}, "member": {…}, "last": {…} | null, "unread": number, "mentions": number}`. */
export function parseTab(payload: unknown): Tab | undefined {
  const tab = fields(payload);
  const conversation = parseConversation(tab["conversation"]);
  if (conversation === undefined) return undefined;
  const member = fields(tab["member"]);
  return {
    conversation,
    last: parseMessage(tab["last"]),
    read: count(member["read"]) ?? 0,
    unread: count(tab["unread"]) ?? 0,
    mentions: count(tab["mentions"]) ?? 0,
    muted: member["muted"] === true,
    archived: member["archived"] === true,
  };
}

export function parseTabsNext(value: unknown): TabsNext | undefined {
  return isRecord(value) ? value : undefined;
}

/** `cursors`: `{"conversation", "read", "delivered", "unread"}`, moved by a device of one's own. */
export function parseCursors(payload: unknown): { conversation: string; read: number; unread: number } | undefined {
  const cursors = fields(payload);
  const [conversation, read] = [text(cursors["conversation"]), count(cursors["read"])];
  if (conversation === undefined || read === undefined) return undefined;
  return { conversation, read, unread: count(cursors["unread"]) ?? 0 };
}

/** `conversation:kept`: `{"conversation", "muted", "archived"}`. */
export function parseKept(payload: unknown): { conversation: string; muted: boolean; archived: boolean } | undefined {
  const kept = fields(payload);
  const conversation = text(kept["conversation"]);
  if (conversation === undefined) return undefined;
  return { conversation, muted: kept["muted"] === true, archived: kept["archived"] === true };
}

/** `member:out`: `{"conversation", "person", "why"}`. */
export function parseGone(payload: unknown): { conversation: string; person: string } | undefined {
  const gone = fields(payload);
  const [conversation, person] = [text(gone["conversation"]), text(gone["person"])];
  return conversation === undefined || person === undefined ? undefined : { conversation, person };
}

/** A message, and the conversation that it is of. */
export function parseSaid(payload: unknown): { conversation: string; message: Message } | undefined {
  const [conversation, message] = [text(fields(payload)["conversation"]), parseMessage(payload)];
  return conversation === undefined || message === undefined ? undefined : { conversation, message };
}

/** Of whom a change tells: with whom one talks in private, and who said something. */
export function peopleIn(change: TabChange): { friends: readonly string[]; authors: readonly string[] } {
  switch (change.kind) {
    case "listed":
    case "continued":
      return peopleOf(change.tabs);
    case "found":
      return peopleOf([change.tab]);
    case "began":
      return { friends: change.conversation.pair, authors: [] };
    case "said":
      return { friends: [], authors: [change.message.sender] };
    case "edited":
    case "read":
    case "kept":
    case "gone":
      return { friends: [], authors: [] };
  }
}

function peopleOf(tabs: readonly Tab[]): { friends: readonly string[]; authors: readonly string[] } {
  return {
    friends: tabs.flatMap(({ conversation }) => conversation.pair),
    authors: tabs.flatMap(({ last }) => (last === undefined ? [] : [last.sender])),
  };
}
