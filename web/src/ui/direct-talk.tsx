import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { RoomState } from "../room/state";
import { otherOf } from "../room/tabs";
import { unreadCount } from "../room/unread";
import { BlockedNote } from "./blocked-note";
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

  const other = state.conversation === undefined ? undefined : otherOf(state.conversation, room.me);
  const blocked = other !== undefined && room.blocks.has(other);
  // Names are learnt for the whole page. Who blocks the other one cannot write either.
  const named = useMemo((): RoomState => {
    const standing = blocked ? { ...state.standing, speaks: false } : state.standing;
    return { ...state, names: room.names, standing };
  }, [state, room.names, blocked]);
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
      <Talk
        state={named}
        actions={own}
        place={place}
        title={title}
        closed={blocked ? <BlockedNote name={title} onUnblock={() => { actions.block(other, false); }} /> : undefined}
        goal={goal}
      />
    </>
  );
}
