import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { RoomState } from "../room/state";
import { unreadCount } from "../room/unread";
import { EntryNote } from "./entry-note";
import { Talk } from "./talk";
import { useBeside } from "./use-beside";
import type { Goal } from "./use-goal";
import type { RoomActions } from "./use-room";

export type DirectTalkProps = {
  readonly conversation: string;
  /** What it is called. */
  readonly title: string;
  readonly room: RoomState;
  readonly actions: RoomActions;
  /** What its draft is kept under. */
  readonly place: string;
  /** A message of it that was chosen elsewhere. */
  readonly goal: Goal | undefined;
  /** How many messages of it were not read. */
  readonly onUnread: (count: number) => void;
};

/** A private conversation, in place of the room's talk. What is said in the room is heard meanwhile. */
export function DirectTalk(props: DirectTalkProps): JSX.Element {
  const { conversation, title, room, actions, place, goal, onUnread } = props;
  const { state, actions: own } = useBeside(conversation, room, actions);
  const unread = unreadCount(state.unread, state.messages.newest);
  useEffect(() => { onUnread(unread); }, [unread, onUnread]);

  // Names are learnt for the whole page.
  const named = useMemo(() => ({ ...state, names: room.names }), [state, room.names]);
  return (
    <>
      {state.link.phase === "refused" && (
        <EntryNote
          fault={state.link.fault}
          onRetry={actions.reconnect}
          onRename={undefined}
          onBecomeGuest={undefined}
        />
      )}
      <Talk state={named} actions={own} place={place} title={title} goal={goal} />
    </>
  );
}
