import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { unreadCount } from "../room/unread";
import { EntryNote } from "./entry-note";
import { PeoplePanel } from "./people-panel";
import { RenameDialog } from "./rename-dialog";
import { RoomHeader } from "./room-header";
import { Talk } from "./talk";
import { useRoom, type RoomPlace } from "./use-room";
import { useUnreadTitle } from "./use-unread-title";

export type RoomPageProps = RoomPlace & {
  readonly onRename: (name: string) => void;
  /** Whoever the site sent comes in as a guest instead. */
  readonly onBecomeGuest: () => void;
};

export function RoomPage({ onRename, onBecomeGuest, ...place }: RoomPageProps): JSX.Element {
  const { state, actions } = useRoom(place);
  const { link, me, people, names, messages, unread } = state;
  const { identity } = place;
  const [peopleOpen, setPeopleOpen] = useState(false);
  const peopleToggle = useRef<HTMLButtonElement>(null);
  const [renaming, setRenaming] = useState(false);
  const title = state.conversation?.title ?? place.address.room;
  useUnreadTitle(title, unreadCount(unread, messages.newest));

  const chosen = identity.kind === "guest" ? identity.name : "";
  const name = (me === undefined ? undefined : names.get(me)?.name) ?? chosen;
  const rename = identity.kind === "guest" ? () => { setRenaming(true); } : undefined;
  return (
    <div class="room">
      <RoomHeader
        state={state}
        title={title}
        name={name}
        peopleOpen={peopleOpen}
        peopleToggle={peopleToggle}
        onPeople={() => { setPeopleOpen(!peopleOpen); }}
        onRename={rename}
        onReconnect={actions.reconnect}
        onReenter={actions.reenter}
      />

      <main class="talk">
        {link.phase === "refused" && (
          <EntryNote
            fault={link.fault}
            onRetry={actions.reconnect}
            onRename={rename}
            onBecomeGuest={identity.kind === "member" ? onBecomeGuest : undefined}
          />
        )}
        <Talk state={state} actions={actions} title={title} />
      </main>

      <PeoplePanel
        people={people}
        names={names}
        me={me}
        live={link.phase === "online"}
        open={peopleOpen}
        onClose={() => {
          setPeopleOpen(false);
          peopleToggle.current?.focus();
        }}
      />

      {renaming && <RenameDialog name={name} onName={onRename} onClose={() => { setRenaming(false); }} />}
    </div>
  );
}
