import { useEffect, useReducer, useRef } from "preact/hooks";
import type { Beside } from "../protocol/beside";
import { besideRoom, reduceRoom, type RoomState } from "../room/state";
import { useTalkActions, type TalkActions } from "./use-actions";
import type { RoomActions } from "./use-room";

/** Holds a direct conversation open over the room's connection while the component is shown. */
export function useBeside(
  conversation: string,
  room: RoomState,
  { channel }: RoomActions,
): { state: RoomState; actions: TalkActions } {
  const [state, dispatch] = useReducer(reduceRoom, room, besideRoom);
  const beside = useRef<Beside>(undefined);
  const read = room.tabs.lines.get(conversation)?.read ?? 0;
  const readBefore = useRef(read);

  useEffect(() => {
    const open = channel()?.own.open(conversation, readBefore.current, (event) => { dispatch({ type: "happened", event }); });
    beside.current = open;
    return () => { open?.leave(); };
  }, [conversation, channel]);

  // Read on another device, or here: the own topic tells both.
  useEffect(() => { dispatch({ type: "happened", event: { type: "read", seq: read } }); }, [read]);

  const actions = useTalkActions(state, dispatch, () => beside.current?.talk);
  return { state, actions };
}
