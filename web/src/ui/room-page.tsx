import type { JSX } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";
import type { Hit } from "../protocol/search";
import { roomPath } from "../room/address";
import { nameOf } from "../room/names";
import { titleOf, unreadBeside, waitingIn } from "../room/tabs";
import { unreadCount } from "../room/unread";
import { BlockDialog } from "./block-dialog";
import { BlockedDialog } from "./blocked-dialog";
import { conversationItems } from "./conversation-items";
import { DirectTalks } from "./direct-talks";
import { EntryNote } from "./entry-note";
import { FaultNote } from "./fault-note";
import { PeoplePanel } from "./people-panel";
import { personItems } from "./person-items";
import { RenameDialog } from "./rename-dialog";
import { RoomHeader } from "./room-header";
import { SearchDialog } from "./search-dialog";
import { TabsPanel } from "./tabs-panel";
import { Talk } from "./talk";
import type { Goal } from "./use-goal";
import { useOwnColor } from "./use-own-color";
import { useRoom, type RoomPlace } from "./use-room";
import { useSearchKeys } from "./use-search-keys";
import { useUnarchive } from "./use-unarchive";
import { useUnreadTitle } from "./use-unread-title";

export type RoomPageProps = RoomPlace & {
  /** The message of the room to which the address leads. */
  readonly seq: number | undefined;
  readonly onRename: (name: string) => void;
  /** Whoever the site sent comes in as a guest instead. */
  readonly onBecomeGuest: () => void;
};

/** A room, or a private conversation in its place, between the conversations one has and the people who are here. */
export function RoomPage({ seq, onRename, onBecomeGuest, ...place }: RoomPageProps): JSX.Element {
  const { state, actions } = useRoom(place);
  const { link, me, names, messages, unread, tabs, fault } = state;
  const { identity, address } = place;
  const [drawer, setDrawer] = useState<"tabs" | "people">();
  const [toggles, peopleToggle] = [useRef<HTMLButtonElement>(null), useRef<HTMLButtonElement>(null)];
  const [renaming, setRenaming] = useState(false);
  const [chosen, choose] = useState<string>();
  const [goal, setGoal] = useState<Goal | undefined>(seq === undefined ? undefined : { conversation: undefined, seq });
  const [searching, setSearching] = useState(false);
  /** Who is to be blocked, if that is meant. */
  const [doomed, setDoomed] = useState<string>();
  const [listing, setListing] = useState(false);
  const [besideUnread, setBesideUnread] = useState(0);
  useSearchKeys(useCallback(() => { setSearching(true); }, []));

  // Who one is may have changed: then it is not there any more.
  const beside = chosen === undefined ? undefined : tabs.lines.get(chosen);
  const room = state.conversation?.title ?? address.room;
  const title = beside === undefined ? room : titleOf(beside.conversation, names, me);
  const unreadHere = beside === undefined ? unreadCount(unread, messages.newest) : besideUnread;
  const current = beside?.conversation ?? state.conversation;
  const line = current === undefined ? undefined : tabs.lines.get(current.id);
  const here = line?.muted === true ? waitingIn(line) : unreadHere;
  const waiting = unreadBeside(tabs, chosen);
  useUnarchive(line, actions);
  useUnreadTitle(title, here + waiting, state.community?.name ?? "Throng");
  useOwnColor(state.community?.color);

  const asked = identity.kind === "guest" ? identity.name : "";
  const name = (me === undefined ? undefined : names.get(me)?.name) ?? asked;
  const rename = identity.kind === "guest" ? () => { setRenaming(true); } : undefined;

  function show(conversation: string | undefined): void {
    setDrawer(undefined);
    setGoal(undefined);
    choose(conversation);
  }

  function showHit({ conversation, message }: Hit): void {
    const beside = conversation === state.conversation?.id ? undefined : conversation;
    show(beside);
    setGoal({ conversation: beside, seq: message.seq });
  }

  async function write(person: string): Promise<void> {
    const conversation = await actions.direct(person);
    if (conversation !== undefined) show(conversation);
  }

  return (
    <div class={`room${beside === undefined ? "" : " room-beside"}`}>
      <RoomHeader
        state={state}
        title={title}
        beside={beside?.conversation}
        room={room}
        name={name}
        waiting={waiting}
        drawer={drawer}
        tabsToggle={toggles}
        peopleToggle={peopleToggle}
        onDrawer={(which) => { setDrawer(drawer === which ? undefined : which); }}
        items={beside === undefined || link.phase !== "online" ? [] : conversationItems(beside, state, actions, setDoomed)}
        onSearch={() => { setSearching(true); }}
        onBack={() => { show(undefined); }}
        onRename={rename}
        onReconnect={actions.reconnect}
        onReenter={actions.reenter}
      />

      <TabsPanel
        state={state}
        actions={actions}
        address={address}
        current={beside?.conversation.id}
        open={drawer === "tabs"}
        onClose={() => {
          setDrawer(undefined);
          toggles.current?.focus();
        }}
        onChoose={show}
        onBlock={setDoomed}
        onBlocked={() => { setListing(true); }}
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
        {beside === undefined ? (
          <Talk
            state={state}
            actions={actions}
            place={roomPath(address)}
            title={room}
            itemsOf={(person) => personItems(person, state, (to) => void write(to), { block: actions.block, onBlock: setDoomed })}
            goal={goal?.conversation === undefined ? goal : undefined}
          />
        ) : (
          fault && <FaultNote fault={fault} onDismiss={() => { actions.note({ type: "fault_dismissed" }); }} />
        )}
        <DirectTalks
          shown={
            beside && {
              conversation: beside.conversation.id,
              title,
              goal: goal?.conversation === beside.conversation.id ? goal : undefined,
            }
          }
          room={state}
          actions={actions}
          community={address.community}
          onUnread={setBesideUnread}
        />
      </main>

      {beside === undefined && (
        <PeoplePanel
          state={state}
          actions={actions}
          open={drawer === "people"}
          onWrite={(person) => void write(person)}
          onBlock={setDoomed}
          onClose={() => {
            setDrawer(undefined);
            peopleToggle.current?.focus();
          }}
        />
      )}

      {searching && (
        <SearchDialog
          state={state}
          actions={actions}
          address={address}
          current={current === undefined ? undefined : { id: current.id, title }}
          onChoose={showHit}
          onClose={() => { setSearching(false); }}
        />
      )}
      {doomed !== undefined && (
        <BlockDialog
          name={nameOf(names, doomed)}
          onBlock={() => { actions.block(doomed, true); }}
          onClose={() => { setDoomed(undefined); }}
        />
      )}
      {listing && <BlockedDialog state={state} actions={actions} onClose={() => { setListing(false); }} />}
      {renaming && <RenameDialog name={name} onName={onRename} onClose={() => { setRenaming(false); }} />}
    </div>
  );
}
