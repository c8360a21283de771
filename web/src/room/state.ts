import type { Conversation } from "../protocol/conversation";
import type { RoomEvent } from "../protocol/events";
import type { Fault } from "../protocol/fault";
import { reduceLink, unlinked, type Link } from "./link";
import { noMessages, reduceMessages, reduceReader, type Messages, type ReaderAction } from "./messages";
import { noNames, reduceNames, type Names } from "./names";
import { nothingOutgoing, reduceOutbox, type Outbox, type OutboxEvent } from "./outbox";
import { nobodyYet, reducePeople, type People } from "./people";
import { noQuotes, reduceQuotes, type Quotes } from "./quotes";
import { noStanding, reduceStanding, type Standing } from "./standing";
import { nobodyTypes, reduceTyping, type Typing } from "./typing";
import { nothingRead, reduceLook, reduceUnread, type LookAction, type Unread } from "./unread";

/** All that the room's page shows. It changes by `reduceRoom` only, which reads no clock and touches no page. */
export type RoomState = {
  readonly link: Link;
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
  /** Why the last thing that one did to a message did not happen. */
  readonly fault: Fault | undefined;
};

export type RoomAction =
  /** A new place in the room: at the start, under a new name or after a removal. The talk so far stays. */
  | { readonly type: "entered" }
  | { readonly type: "happened"; readonly event: RoomEvent }
  | { readonly type: "failed"; readonly fault: Fault }
  | { readonly type: "fault_dismissed" }
  | ReaderAction
  | LookAction
  | OutboxEvent;

export const emptyRoom: RoomState = {
  link: unlinked,
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
  fault: undefined,
};

export function reduceRoom(state: RoomState, action: RoomAction): RoomState {
  switch (action.type) {
    case "entered":
      return { ...state, link: unlinked, people: nobodyYet, typing: nobodyTypes, standing: noStanding };
    case "happened":
      return reduceEvent(state, action.event);
    case "failed":
      return { ...state, fault: action.fault };
    case "fault_dismissed":
      return { ...state, fault: undefined };
    case "asked":
    case "followed":
      return { ...state, messages: reduceReader(state.messages, action) };
    case "seen":
    case "looked_away":
    case "looked_back":
      return { ...state, unread: reduceLook(state.unread, action) };
    case "send_started":
    case "send_delivered":
    case "send_held":
    case "send_refused":
    case "send_discarded":
      return { ...state, outbox: reduceOutbox(state.outbox, action), standing: afterSending(state.standing, action) };
  }
}

function reduceEvent(state: RoomState, event: RoomEvent): RoomState {
  const me = event.type === "joined" ? event.me.person : state.me;
  return {
    ...state,
    me,
    conversation: event.type === "described" ? event.conversation : state.conversation,
    link: reduceLink(state.link, event),
    standing: reduceStanding(state.standing, event),
    people: reducePeople(state.people, event),
    names: reduceNames(state.names, event),
    typing: reduceTyping(state.typing, event),
    messages: reduceMessages(state.messages, event),
    quotes: reduceQuotes(state.quotes, event),
    unread: reduceUnread(state.unread, event, me),
  };
}

/** What the server says to a message tells whether one is muted, whenever that began or ended. */
function afterSending(standing: Standing, event: OutboxEvent): Standing {
  if (event.type === "send_delivered") return { ...standing, muted: undefined };
  if (event.type !== "send_refused" || event.fault.code !== "muted") return standing;
  return { ...standing, muted: { until: event.fault.until } };
}
