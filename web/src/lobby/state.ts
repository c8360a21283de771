import type { LobbyEvent } from "../protocol/events";
import { reduceLink, unlinked, type Link } from "./link";
import { addGap, addMessage, noMessages, type Messages } from "./messages";
import { nothingOutgoing, reduceOutbox, type Outbox, type OutboxEvent } from "./outbox";
import { nobodyYet, reducePeople, type People } from "./people";

/** All that the lobby's page shows. It changes by `reduceLobby` only, which reads no clock and touches no page. */
export type LobbyState = {
  readonly link: Link;
  readonly people: People;
  readonly messages: Messages;
  readonly outbox: Outbox;
  /** Joined before under this name: whatever was said between the loss of that join and the next one was missed. */
  readonly joinedBefore: boolean;
};

export type LobbyAction =
  /** A new place in the lobby: at the start, under a new name or after a removal. The talk so far stays. */
  | { readonly type: "entered" }
  /** `at`: when it happened, in milliseconds of Unix time. */
  | { readonly type: "happened"; readonly event: LobbyEvent; readonly at: number }
  | OutboxEvent;

export const emptyLobby: LobbyState = {
  link: unlinked,
  people: nobodyYet,
  messages: noMessages,
  outbox: nothingOutgoing,
  joinedBefore: false,
};

export function reduceLobby(state: LobbyState, action: LobbyAction): LobbyState {
  switch (action.type) {
    case "entered":
      return enter(state);
    case "happened":
      return reduceEvent(state, action.event, action.at);
    case "send_started":
    case "send_delivered":
    case "send_refused":
    case "send_unconfirmed":
    case "send_discarded":
      return { ...state, outbox: reduceOutbox(state.outbox, action) };
  }
}

/** A new name takes the place of the old one at once; after a removal there was a time outside. */
function enter(state: LobbyState): LobbyState {
  const joinedBefore = state.joinedBefore && state.link.phase === "removed";
  return { ...state, link: unlinked, people: nobodyYet, joinedBefore };
}

function reduceEvent(state: LobbyState, event: LobbyEvent, at: number): LobbyState {
  return {
    link: reduceLink(state.link, event),
    people: reducePeople(state.people, event),
    messages: reduceMessages(state, event, at),
    outbox: state.outbox,
    joinedBefore: state.joinedBefore || event.type === "joined",
  };
}

function reduceMessages(state: LobbyState, event: LobbyEvent, at: number): Messages {
  if (event.type === "message") return addMessage(state.messages, event, at);
  if (event.type === "joined" && state.joinedBefore) return addGap(state.messages, at);
  return state.messages;
}
