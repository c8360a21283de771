import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { isDone } from "../room/open-talks";
import type { RoomState } from "../room/state";
import { otherOf } from "../room/tabs";
import { unreadCount } from "../room/unread";
import { BlockedNote } from "./blocked-note";
import { EntryNote } from "./entry-note";
import { Talk } from "./talk";
import { useBeside } from "./use-beside";
import type { Goal } from "./use-goal";
import type { RoomActions } from "./use-room";

export type Shown = {
  /** What it is called. */
  readonly title: string;
  /** A message of it that was chosen elsewhere. */
  readonly goal: Goal | undefined;
};

export type DirectTalkProps = {
  readonly conversation: string;
  /** `undefined` while it is out of sight. */
  readonly shown: Shown | undefined;
  readonly room: RoomState;
  readonly actions: RoomActions;
  /** What its draft is kept under. */
  readonly place: string;
  /** How many messages of it were not read, while it is shown. */
  readonly onUnread: (count: number) => void;
  /** It is out of sight, and has nothing left to send. */
  readonly onDone: (conversation: string) => void;
};

/**
 * A private conversation, in place of the room's talk. What is said in the room is heard meanwhile. What was written here
 * goes on being sent while another conversation is shown.
 */
export function DirectTalk(props: DirectTalkProps): JSX.Element | null {
  const { conversation, shown, room, actions, place, onUnread, onDone } = props;
  const { state, actions: own } = useBeside(conversation, room, actions);
  const isShown = shown !== undefined;
  const unread = unreadCount(state.unread, state.messages.newest);
  useEffect(() => { if (isShown) onUnread(unread); }, [isShown, unread, onUnread]);
  const done = !isShown && isDone(state);
  useLayoutEffect(() => { if (done) onDone(conversation); }, [done, conversation, onDone]);

  const other = state.conversation === undefined ? undefined : otherOf(state.conversation, room.me);
  const blocked = other !== undefined && room.blocks.has(other);
  // Names are learnt for the whole page. Who blocks the other one cannot write either.
  const named = useMemo((): RoomState => {
    const standing = blocked ? { ...state.standing, speaks: false } : state.standing;
    return { ...state, names: room.names, standing };
  }, [state, room.names, blocked]);
  if (shown === undefined) return null;
  const { title, goal } = shown;
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
