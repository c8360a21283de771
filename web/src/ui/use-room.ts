import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { Identity } from "../protocol/credentials";
import { noAnswer, type Fault } from "../protocol/fault";
import { RoomChannel } from "../protocol/room-channel";
import type { Found, Question } from "../protocol/search";
import type { Keeping, Tab, TabsNext } from "../protocol/tab";
import type { RoomAddress } from "../room/address";
import { emptyRoom, reduceRoom, type RoomState } from "../room/state";
import { useTalkActions, type TalkActions } from "./use-actions";

export type RoomPlace = {
  readonly endpoint: string;
  readonly address: RoomAddress;
  readonly identity: Identity;
};

/** What the page does in the room. It stays the same object as long as the page is shown. */
export type RoomActions = TalkActions & {
  /** Connects now instead of at the end of the back-off. */
  readonly reconnect: () => void;
  /** Takes a new place after the server ended this one. */
  readonly reenter: () => void;
  /** Asks for one's conversation with that person, in private. Why there is none is shown like any other refusal. */
  readonly direct: (person: string) => Promise<string | undefined>;
  readonly moreTabs: (before: TabsNext) => void;
  /** Mutes a conversation or puts it away, or takes that back. Why that did not happen is shown. */
  readonly keep: (line: Tab, keeping: Keeping) => void;
  /** Blocks somebody, or does so no more. Why that did not happen is shown. */
  readonly block: (person: string, on: boolean) => void;
  /** How somebody is called is told, if that is not known yet. */
  readonly askName: (person: string) => void;
  readonly search: (question: Question) => Promise<Found | Fault>;
  /** The place in the room, as it is now. */
  readonly channel: () => RoomChannel | null;
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

  const talking = useTalkActions(state, dispatch, () => channel.current?.talk);
  const actions = useMemo((): RoomActions => {
    const shown = (fault: Fault | undefined): void => {
      if (fault !== undefined) dispatch({ type: "failed", fault });
    };
    return {
      ...talking,
      reconnect: () => channel.current?.reconnect(),
      reenter: () => { setVisit((count) => count + 1); },
      direct: async (person) => {
        const answer = await channel.current?.own.direct(person);
        if (answer === undefined || "id" in answer) return answer?.id;
        dispatch({ type: "failed", fault: answer });
        return undefined;
      },
      moreTabs: (before) => channel.current?.own.moreTabs(before),
      keep: (line, keeping) => {
        void channel.current?.own.keep(line, keeping).then(shown);
      },
      block: (person, on) => {
        void channel.current?.own.block(person, on).then(shown);
      },
      askName: (person) => channel.current?.own.askName(person),
      search: async (question) => (await channel.current?.own.search(question)) ?? noAnswer,
      channel: () => channel.current,
    };
  }, [talking]);

  return { state, actions };
}
