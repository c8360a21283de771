import { useEffect, useReducer, useRef } from "preact/hooks";
import type { Beside } from "../protocol/beside";
import type { OwnPlace } from "../protocol/own-place";
import { besideRoom, reduceRoom, type RoomState } from "../room/state";
import { useTalkActions, type TalkActions } from "./use-actions";
import type { RoomActions } from "./use-room";

/**
 * Holds a direct conversation open over the room's connection as long as the component is there, whether it shows it or
 * not. The component is of one conversation.
 */
export function useBeside(
  conversation: string,
  room: RoomState,
  { channel }: RoomActions,
): { state: RoomState; actions: TalkActions } {
  const [state, dispatch] = useReducer(reduceRoom, room, besideRoom);
  const held = useRef<{ readonly own: OwnPlace; readonly beside: Beside }>(undefined);
  const read = room.tabs.lines.get(conversation)?.read ?? 0;
  const readBefore = useRef(read);
  const { link } = room;

  // Another place in the room has a connection of its own, over which it can be opened by the time one is online.
  useEffect(() => {
    const own = channel()?.own;
    if (own === undefined || own === held.current?.own) return;
    if (held.current !== undefined) dispatch({ type: "entered" });
    const beside = own.open(conversation, readBefore.current, (event) => { dispatch({ type: "happened", event }); });
    held.current = beside && { own, beside };
    if (beside === undefined || !("transport" in link)) return;
    dispatch({ type: "happened", event: { type: "opened", transport: link.transport } });
  }, [link.phase, channel]);

  useEffect(() => () => {
    if (held.current !== undefined) held.current.own.close(held.current.beside);
  }, []);

  // Read on another device, or here: the own topic tells both.
  useEffect(() => { dispatch({ type: "happened", event: { type: "read", seq: read } }); }, [read]);

  const actions = useTalkActions(state, dispatch, () => held.current?.beside.talk);
  return { state, actions };
}
