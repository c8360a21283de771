import { isRoom, type Conversation } from "../protocol/conversation";
import type { RoomEvent } from "../protocol/events";
import type { Fault } from "../protocol/fault";
import type { Status } from "../protocol/person";
import type { Tab, TabChange, TabsNext } from "../protocol/tab";
import { nameOf, type Names } from "./names";

/** The conversations tab: every conversation one is in, and who of those with whom one talks in private is here. */
export type Tabs = {
  readonly lines: ReadonlyMap<string, Tab>;
  /** Where further lines begin, if there are any. */
  readonly next: TabsNext | undefined;
  readonly friends: ReadonlyMap<string, Status>;
  /** Why there is nothing to be told of them now. */
  readonly refused: Fault | undefined;
};

/** Lines kept; past it those that were quiet for longest go. */
export const LINES_MAX = 1000;

export const noTabs: Tabs = { lines: new Map(), next: undefined, friends: new Map(), refused: undefined };

export function reduceTabs(tabs: Tabs, event: RoomEvent): Tabs {
  if (event.type === "tabs_changed") return change(tabs, event.change);
  if (event.type === "own_refused") return { ...tabs, refused: event.fault };
  if (event.type !== "friends_seen") return tabs;
  const friends = new Map(event.all ? [] : tabs.friends);
  for (const { person, status } of event.people) {
    if (status === "offline") friends.delete(person);
    else friends.set(person, status);
  }
  // All of them are told with the answer to a join.
  return { ...tabs, friends, refused: event.all ? undefined : tabs.refused };
}

/** The newest first; what one has put away is not among them until it comes back. */
export function linesOf(tabs: Tabs): Tab[] {
  return newestFirst(tabs).filter((line) => !line.archived || isBack(line));
}

/** What one has put away, the newest first. */
export function archivedOf(tabs: Tabs): Tab[] {
  return newestFirst(tabs).filter((line) => line.archived && !isBack(line));
}

/** Whether something was said, since a conversation was put away, that one wants to hear of. */
export function isBack(line: Tab): boolean {
  return line.archived && waitingIn(line) > 0;
}

/** How many messages wait that one wants to hear of: of what is muted only those that name one. */
export function waitingIn({ muted, unread, mentions }: Tab): number {
  return muted ? mentions : unread;
}

/** The same of private conversations, but for the one that is open. */
export function unreadBeside({ lines }: Tabs, open: string | undefined): number {
  let waiting = 0;
  for (const line of lines.values()) {
    if (!isRoom(line.conversation) && line.conversation.id !== open) waiting += waitingIn(line);
  }
  return waiting;
}

/** The other one of two. */
export function otherOf({ pair }: Conversation, me: string | undefined): string | undefined {
  return pair.find((person) => person !== me);
}

/** What a conversation is called: a direct one like the other person. */
export function titleOf(conversation: Conversation, names: Names, me: string | undefined): string {
  const other = otherOf(conversation, me);
  if (other !== undefined) return nameOf(names, other);
  if (conversation.title !== "") return conversation.title;
  return conversation.name ?? "A group";
}

function change(tabs: Tabs, news: TabChange): Tabs {
  switch (news.kind) {
    case "listed":
      return { ...tabs, lines: keep(new Map(), news.tabs), next: news.next };
    case "continued":
      return { ...tabs, lines: keep(tabs.lines, news.tabs), next: news.next };
    case "found":
      return { ...tabs, lines: keep(tabs.lines, [news.tab]) };
    case "began":
      return tabs.lines.has(news.conversation.id) ? tabs : { ...tabs, lines: keep(tabs.lines, [begun(news.conversation)]) };
    case "gone":
      return without(tabs, news.conversation);
    case "said":
      return at(tabs, news.conversation, (line) => said(line, news));
    case "edited":
      return at(tabs, news.conversation, (line) =>
        line.last?.seq === news.message.seq && line.last.revision <= news.message.revision
          ? { ...line, last: news.message }
          : line,
      );
    case "read":
      return at(tabs, news.conversation, (line) =>
        news.read < line.read
          ? line
          : { ...line, read: news.read, unread: news.unread, mentions: news.unread === 0 ? 0 : line.mentions },
      );
    case "kept":
      return at(tabs, news.conversation, (line) => ({ ...line, muted: news.muted, archived: news.archived }));
  }
}

function newestFirst({ lines }: Tabs): Tab[] {
  return Array.from(lines.values()).sort(
    (a, b) => b.conversation.active - a.conversation.active || (a.conversation.id < b.conversation.id ? -1 : 1),
  );
}

function begun(conversation: Conversation): Tab {
  const { last } = conversation;
  return { conversation, last: undefined, read: 0, unread: last, mentions: 0, muted: false, archived: false };
}

/** What is known is the same message. Saying something is having read what stands above. */
function said(line: Tab, { message, mine, forMe }: Extract<TabChange, { kind: "said" }>): Tab {
  const { conversation } = line;
  if (message.seq <= conversation.last) return line;
  const read = mine ? message.seq : line.read;
  return {
    ...line,
    conversation: { ...conversation, last: message.seq, active: Math.max(message.at, conversation.active) },
    last: message,
    read,
    unread: message.seq - read,
    mentions: mine ? 0 : line.mentions + (forMe ? 1 : 0),
  };
}

function at(tabs: Tabs, id: string, to: (line: Tab) => Tab): Tabs {
  const line = tabs.lines.get(id);
  if (line === undefined) return tabs;
  const next = to(line);
  return next === line ? tabs : { ...tabs, lines: new Map(tabs.lines).set(id, next) };
}

function without(tabs: Tabs, id: string): Tabs {
  if (!tabs.lines.has(id)) return tabs;
  const lines = new Map(tabs.lines);
  lines.delete(id);
  return { ...tabs, lines };
}

function keep(lines: ReadonlyMap<string, Tab>, more: readonly Tab[]): ReadonlyMap<string, Tab> {
  const all = new Map(lines);
  for (const tab of more) all.set(tab.conversation.id, tab);
  if (all.size <= LINES_MAX) return all;
  const newest = Array.from(all).sort(([, a], [, b]) => b.conversation.active - a.conversation.active);
  return new Map(newest.slice(0, LINES_MAX));
}
