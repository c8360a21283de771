import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { Answer } from "../protocol/ask";
import type { Where } from "../protocol/events";
import type { Message } from "../protocol/message";
import { RoomChannel, type Identity } from "../protocol/room-channel";
import type { Draft } from "../protocol/talk";
import type { RoomAddress } from "../room/address";
import { emptyRoom, reduceRoom, type RoomAction, type RoomState } from "../room/state";
import { useDelivery, type Delivery } from "./use-delivery";

export type RoomPlace = {
  readonly endpoint: string;
  readonly address: RoomAddress;
  readonly identity: Identity;
};

/** What the page does in the room. It stays the same object as long as the page is shown. */
export type RoomActions = Delivery & {
  readonly edit: (message: Message, text: string) => Promise<Answer | undefined>;
  readonly remove: (message: Message) => void;
  readonly react: (message: Message, emoji: string, on: boolean) => void;
  readonly typing: (on: boolean) => void;
  /** Asks for messages next to that place, around it, or the newest. */
  readonly bring: (where: Where, seq: number) => void;
  readonly quote: (seq: number) => void;
  readonly read: (seq: number) => void;
  readonly note: (action: RoomAction) => void;
  /** Connects now instead of at the end of the back-off. */
  readonly reconnect: () => void;
  /** Takes a new place after the server ended this one. */
  readonly reenter: () => void;
};

/** Holds a place in the room while the component is shown; another person, room or endpoint is another place. */
export function useRoom({ endpoint, address, identity }: RoomPlace): { state: RoomState; actions: RoomActions } {
  const { community, room } = address;
  const [state, dispatch] = useReducer(reduceRoom, emptyRoom);
  const channel = useRef<RoomChannel>(null);
  const [visit, setVisit] = useState(0);

  useEffect(() => {
    dispatch({ type: "entered" });
    const place = new RoomChannel({ endpoint, community, room, identity }, (event) => {
      dispatch({ type: "happened", event });
    });
    channel.current = place;
    const reconnect = (): void => { place.reconnect(); };
    window.addEventListener("online", reconnect);
    return () => {
      window.removeEventListener("online", reconnect);
      place.leave();
    };
  }, [endpoint, community, room, identity, visit]);

  const delivery = useDelivery((draft: Draft) => channel.current?.talk.send(draft), dispatch);
  const actions = useMemo((): RoomActions => {
    const talk = (): RoomChannel["talk"] | undefined => channel.current?.talk;
    const insist = (asked: Promise<Answer> | undefined): void => {
      void asked?.then((answer) => {
        if (!answer.ok) dispatch({ type: "failed", fault: answer.fault });
      });
    };
    return {
      ...delivery,
      edit: async (message, text) => talk()?.edit(message, text),
      remove: ({ seq }) => { insist(talk()?.delete(seq)); },
      react: ({ seq }, emoji, on) => { insist(talk()?.react(seq, emoji, on)); },
      typing: (on) => talk()?.typing(on),
      bring: (where, seq) => {
        dispatch({ type: "asked", where });
        void talk()?.bring(where, seq);
      },
      quote: (seq) => talk()?.quote(seq),
      read: (seq) => talk()?.read(seq),
      note: dispatch,
      reconnect: () => channel.current?.reconnect(),
      reenter: () => { setVisit((count) => count + 1); },
    };
  }, [delivery]);

  return { state, actions };
}
