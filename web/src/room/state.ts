import type { Community } from "../protocol/community";
import type { Conversation } from "../protocol/conversation";
import type { RoomEvent } from "../protocol/events";
import { NO_ANSWER, type Fault } from "../protocol/fault";
import type { Status } from "../protocol/person";
import { noBlocks, reduceBlocks, type Blocks } from "./blocks";
import { reduceLink, unlinked, type Link } from "./link";
import { noMessages, reduceMessages, reduceReader, type Messages, type ReaderAction } from "./messages";
import { noNames, reduceNames, type Names } from "./names";
import { arrived, followOutbox, givenUp, nothingOutgoing, reduceOutbox, type Outbox, type OutboxEvent } from "./outbox";
import { nobodyYet, reducePeople, type People } from "./people";
import { noQuotes, reduceQuotes, type Quotes } from "./quotes";
import { noStanding, reduceStanding, type Standing } from "./standing";
import { noTabs, reduceTabs, type Tabs } from "./tabs";
import { nobodyTypes, reduceTyping, type Typing } from "./typing";
import { nothingRead, reduceLook, reduceUnread, type LookAction, type Unread } from "./unread";

/** All that the room's page shows. It changes by `reduceRoom` only, which reads no clock and touches no page. */
export type RoomState = {
  readonly link: Link;
  /** What the community is called and how it looks; known with the first join. */
  readonly community: Community | undefined;
  /** What the room is called and about; known with the first join. */
  readonly conversation: Conversation | undefined;
  /** Who one is; known with the first join. */
  readonly me: string | undefined;
  readonly standing: Standing;
  readonly people: People;
  readonly names: Names;
  readonly typing: Typing;
  readonly messages: Messages;
  readonly quotes: Quotes;
  readonly unread: Unread;
  readonly outbox: Outbox;
  readonly tabs: Tabs;
  readonly blocks: Blocks;
  /** Why not everything could be brought that came since the last time, until it is dismissed. */
  readonly lost: string | undefined;
  /** Why the last thing that one wanted did not happen. */
  readonly fault: Fault | undefined;
};

export type RoomAction =
  /** A new place in the room: at the start, under a new name or after a removal. The talk so far stays. */
  | { readonly type: "entered" }
  | { readonly type: "happened"; readonly event: RoomEvent }
  | { readonly type: "failed"; readonly fault: Fault }
  | { readonly type: "fault_dismissed" }
  | { readonly type: "loss_dismissed" }
  | ReaderAction
  | LookAction
  | OutboxEvent;

export const emptyRoom: RoomState = {
  link: unlinked,
  community: undefined,
  conversation: undefined,
  me: undefined,
  standing: noStanding,
  people: nobodyYet,
  names: noNames,
  typing: nobodyTypes,
  messages: noMessages,
  quotes: noQuotes,
  unread: nothingRead,
  outbox: nothingOutgoing,
  tabs: noTabs,
  blocks: noBlocks,
  lost: undefined,
  fault: undefined,
};

/** A conversation that is opened beside a room, over its connection. */
export function besideRoom({ link, me, names }: RoomState): RoomState {
  return { ...emptyRoom, link: "transport" in link ? { phase: "joining", transport: link.transport } : link, me, names };
}

/** Whether somebody is here, as far as the room or one's own topic says. */
export function statusOf({ tabs, people }: RoomState, person: string): Status | undefined {
  return tabs.friends.get(person) ?? (people.kind === "listed" ? people.people.get(person) : undefined);
}

export function reduceRoom(state: RoomState, action: RoomAction): RoomState {
  switch (action.type) {
    case "entered":
      return {
        ...state,
        link: unlinked,
        people: nobodyYet,
        typing: nobodyTypes,
        standing: noStanding,
        outbox: givenUp(state.outbox),
        tabs: noTabs,
        blocks: noBlocks,
      };
    case "happened":
      return reduceEvent(state, action.event);
    case "failed":
      return { ...state, fault: action.fault };
    case "fault_dismissed":
      return { ...state, fault: undefined };
    case "loss_dismissed":
      return { ...state, lost: undefined };
    case "asked":
    case "followed":
      return { ...state, messages: reduceReader(state.messages, action) };
    case "seen":
    case "looked_away":
    case "looked_back":
      return { ...state, unread: reduceLook(state.unread, action) };
    case "send_started":
    case "send_postponed":
    case "send_delivered":
    case "send_held":
    case "send_refused":
    case "send_discarded":
      return sending(state, action);
  }
}

function reduceEvent(state: RoomState, event: RoomEvent): RoomState {
  const me = event.type === "joined" ? event.me.person : state.me;
  const messages = reduceMessages(state.messages, event);
  return {
    ...state,
    me,
    community: event.type === "community_described" ? event.community : state.community,
    conversation: event.type === "described" ? event.conversation : state.conversation,
    link: reduceLink(state.link, event),
    standing: reduceStanding(state.standing, event),
    people: reducePeople(state.people, event),
    names: reduceNames(state.names, event),
    typing: reduceTyping(state.typing, event),
    messages,
    quotes: reduceQuotes(state.quotes, event),
    unread: reduceUnread(state.unread, event, me),
    outbox: arrived(followOutbox(state.outbox, event, state.me, me), messages.newest),
    tabs: reduceTabs(state.tabs, event),
    blocks: reduceBlocks(state.blocks, event),
    lost: event.type === "page" ? event.lost : state.lost,
    // Older and newer ones are asked for again by scrolling; to a single message one was led on purpose.
    fault: event.type === "not_brought" && event.where === "around" ? event.fault : state.fault,
  };
}

function sending(state: RoomState, event: OutboxEvent): RoomState {
  // Where there is no connection, that no answer came is no news: it is sent again when there is one.
  const isCutOff = event.type === "send_refused" && event.fault.code === NO_ANSWER && state.link.phase !== "online";
  const outbox = reduceOutbox(state.outbox, isCutOff ? { type: "send_postponed", id: event.id } : event);
  return { ...state, outbox: arrived(outbox, state.messages.newest), standing: afterSending(state.standing, event) };
}

/** What the server says to a message tells whether one is muted, whenever that began or ended. */
function afterSending(standing: Standing, event: OutboxEvent): Standing {
  if (event.type === "send_delivered") return { ...standing, muted: undefined };
  if (event.type !== "send_refused" || event.fault.code !== "muted") return standing;
  return { ...standing, muted: { until: event.fault.until } };
}
