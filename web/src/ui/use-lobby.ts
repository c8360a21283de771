import { useCallback, useEffect, useReducer, useRef, useState } from "preact/hooks";
import { emptyLobby, reduceLobby, type LobbyState } from "../lobby/state";
import type { LobbyEvent } from "../protocol/events";
import { LobbyChannel, type LobbyOptions } from "../protocol/lobby-channel";

export type Lobby = {
  readonly state: LobbyState;
  readonly send: (body: string) => void;
  /** Takes a failed message out of the outbox. */
  readonly discard: (id: number) => void;
  /** Connects now instead of at the end of the back-off. */
  readonly reconnect: () => void;
  /** Takes a new place after the server ended this one. */
  readonly reenter: () => void;
};

/** Holds a place in the lobby while the component is shown; another name or endpoint is another place. */
export function useLobby({ endpoint, key, name }: LobbyOptions): Lobby {
  const [state, dispatch] = useReducer(reduceLobby, emptyLobby);
  const channel = useRef<LobbyChannel>(null);
  const nextOutgoingId = useRef(0);
  const [visit, setVisit] = useState(0);

  useEffect(() => {
    dispatch({ type: "entered" });
    const place = new LobbyChannel({ endpoint, key, name }, (event: LobbyEvent) => {
      dispatch({ type: "happened", event, at: Date.now() });
    });
    channel.current = place;
    const reconnect = (): void => { place.reconnect(); };
    window.addEventListener("online", reconnect);
    return () => {
      window.removeEventListener("online", reconnect);
      place.leave();
    };
  }, [endpoint, key, name, visit]);

  const send = useCallback((body: string) => {
    const place = channel.current;
    if (!place) return;
    const id = nextOutgoingId.current++;
    dispatch({ type: "send_started", id, body });
    void place.send(body).then((delivery) => {
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

  const discard = useCallback((id: number) => { dispatch({ type: "send_discarded", id }); }, []);
  const reconnect = useCallback(() => channel.current?.reconnect(), []);
  const reenter = useCallback(() => { setVisit((count) => count + 1); }, []);

  return { state, send, discard, reconnect, reenter };
}
