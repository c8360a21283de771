import { useCallback, useEffect, useReducer, useRef, useState } from "preact/hooks";
import { randomId } from "../identity/random-id";
import type { RoomAddress } from "../room/address";
import { emptyRoom, reduceRoom, type RoomState } from "../room/state";
import { RoomChannel, type Tokens } from "../protocol/room-channel";

export type RoomPlace = {
  readonly endpoint: string;
  readonly address: RoomAddress;
  readonly tokens: Tokens;
  readonly name: string;
};

export type Room = {
  readonly state: RoomState;
  readonly send: (text: string) => void;
  /** Sends a failed message again, as the same one. */
  readonly resend: (id: string, text: string) => void;
  /** Takes a failed message out of the outbox. */
  readonly discard: (id: string) => void;
  /** Asks for what was said before that place. */
  readonly earlier: (seq: number) => void;
  readonly read: (seq: number) => void;
  /** Connects now instead of at the end of the back-off. */
  readonly reconnect: () => void;
  /** Takes a new place after the server ended this one. */
  readonly reenter: () => void;
};

/** Holds a place in the room while the component is shown; another name, room or endpoint is another place. */
export function useRoom({ endpoint, address, tokens, name }: RoomPlace): Room {
  const { community, room } = address;
  const [state, dispatch] = useReducer(reduceRoom, emptyRoom);
  const channel = useRef<RoomChannel>(null);
  const [visit, setVisit] = useState(0);

  useEffect(() => {
    dispatch({ type: "entered" });
    const place = new RoomChannel({ endpoint, community, room, tokens, name }, (event) => {
      dispatch({ type: "happened", event });
    });
    channel.current = place;
    const reconnect = (): void => { place.reconnect(); };
    window.addEventListener("online", reconnect);
    return () => {
      window.removeEventListener("online", reconnect);
      place.leave();
    };
  }, [endpoint, community, room, tokens, name, visit]);

  const resend = useCallback((id: string, text: string) => {
    const place = channel.current;
    if (!place) return;
    dispatch({ type: "send_started", id, text });
    void place.send(text, id).then((delivery) => {
      switch (delivery.outcome) {
        case "delivered":
          dispatch({ type: "send_delivered", id });
          break;
        case "refused":
          dispatch({ type: "send_refused", id, reason: delivery.reason });
          break;
        case "unconfirmed":
          dispatch({ type: "send_unconfirmed", id });
          break;
      }
    });
  }, []);

  const send = useCallback((text: string) => { resend(randomId(), text); }, [resend]);
  const discard = useCallback((id: string) => { dispatch({ type: "send_discarded", id }); }, []);
  const earlier = useCallback((seq: number) => channel.current?.earlier(seq), []);
  const read = useCallback((seq: number) => channel.current?.read(seq), []);
  const reconnect = useCallback(() => channel.current?.reconnect(), []);
  const reenter = useCallback(() => { setVisit((count) => count + 1); }, []);

  return { state, send, resend, discard, earlier, read, reconnect, reenter };
}
