import type { JSX } from "preact";
import { useCallback, useLayoutEffect, useState } from "preact/hooks";
import { closed, nothingOpen, opened } from "../room/open-talks";
import type { RoomState } from "../room/state";
import { DirectTalk, type Shown } from "./direct-talk";
import type { RoomActions } from "./use-room";

export type DirectTalksProps = {
  /** The one that is shown, if it is none of the room. */
  readonly shown: (Shown & { readonly conversation: string }) | undefined;
  readonly room: RoomState;
  readonly actions: RoomActions;
  readonly community: string;
  /** How many messages of the one that is shown were not read. */
  readonly onUnread: (count: number) => void;
};

/** The private conversation that is shown, if one is, and out of sight those in which something is still to be sent. */
export function DirectTalks({ shown, room, actions, community, onUnread }: DirectTalksProps): JSX.Element {
  const [open, setOpen] = useState(nothingOpen);
  const current = shown?.conversation;
  useLayoutEffect(() => { setOpen((known) => opened(known, current)); }, [current]);
  const done = useCallback((conversation: string) => { setOpen((known) => closed(known, conversation)); }, []);

  return (
    <>
      {opened(open, current).map((conversation) => (
        <DirectTalk
          key={conversation}
          conversation={conversation}
          shown={conversation === current ? shown : undefined}
          room={room}
          actions={actions}
          place={`${community}/${conversation}`}
          onUnread={onUnread}
          onDone={done}
        />
      ))}
    </>
  );
}
