import type { RoomEvent } from "../protocol/events";
import { reduceLink, unlinked, type Link } from "./link";
import { noMessages, reduceMessages, type Messages } from "./messages";
import { noNames, reduceNames, type Names } from "./names";
import { nothingOutgoing, reduceOutbox, type Outbox, type OutboxEvent } from "./outbox";
import { nobodyYet, reducePeople, type People } from "./people";

/** All that the room's page shows. It changes by `reduceRoom` only, which reads no clock and touches no page. */
export type RoomState = {
  readonly link: Link;
  /** What the room is called; known with the first join. */
  readonly title: string | undefined;
  /** Who one is; known with the first join. */
  readonly me: string | undefined;
  readonly people: People;
  readonly names: Names;
  readonly messages: Messages;
  readonly outbox: Outbox;
};

export type RoomAction =
  /** A new place in the room: at the start, under a new name or after a removal. The talk so far stays. */
  | { readonly type: "entered" }
  | { readonly type: "happened"; readonly event: RoomEvent }
  | OutboxEvent;

export const emptyRoom: RoomState = {
  link: unlinked,
  title: undefined,
  me: undefined,
  people: nobodyYet,
  names: noNames,
  messages: noMessages,
  outbox: nothingOutgoing,
};

export function reduceRoom(state: RoomState, action: RoomAction): RoomState {
  switch (action.type) {
    case "entered":
      return { ...state, link: unlinked, people: nobodyYet };
    case "happened":
      return reduceEvent(state, action.event);
    case "send_started":
    case "send_delivered":
    case "send_refused":
    case "send_unconfirmed":
    case "send_discarded":
      return { ...state, outbox: reduceOutbox(state.outbox, action) };
  }
}

function reduceEvent(state: RoomState, event: RoomEvent): RoomState {
  const joined = event.type === "joined" ? { title: event.title, me: event.me } : undefined;
  return {
    ...state,
    ...joined,
    link: reduceLink(state.link, event),
    people: reducePeople(state.people, event),
    names: reduceNames(state.names, event),
    messages: reduceMessages(state.messages, event),
  };
}
