import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { headcount } from "../room/people";
import { Avatar } from "./avatar";
import { Composer } from "./composer";
import { ConnectionStatus } from "./connection-status";
import { PeopleIcon } from "./icons";
import markUrl from "./mark.svg";
import { MessageList } from "./message-list";
import { OutboxList } from "./outbox-list";
import { PeoplePanel } from "./people-panel";
import { RenameDialog } from "./rename-dialog";
import { useRead } from "./use-read";
import { useRoom, type RoomPlace } from "./use-room";
import { useUnreadTitle } from "./use-unread-title";

export type RoomPageProps = RoomPlace & {
  readonly onRename: (name: string) => void;
};

export function RoomPage({ onRename, ...place }: RoomPageProps): JSX.Element {
  const room = useRoom(place);
  const { link, me, people, names, messages, outbox } = room.state;
  const [peopleOpen, setPeopleOpen] = useState(false);
  const peopleToggle = useRef<HTMLButtonElement>(null);
  const [renaming, setRenaming] = useState(false);
  const online = link.phase === "online";
  const title = room.state.title ?? place.address.room;
  useUnreadTitle(title, messages.arrived);
  useRead(messages.shown.at(-1)?.seq, online, room.read);

  const here = headcount(people);
  const name = (me === undefined ? undefined : names.get(me)?.name) ?? place.name;
  return (
    <div class="room">
      <header class="room-header">
        <img class="mark" src={markUrl} alt="" width="32" height="32" />
        <h1>
          <bdi>{title}</bdi>
        </h1>
        <ConnectionStatus link={link} onReconnect={room.reconnect} onReenter={room.reenter} />
        <button
          type="button"
          ref={peopleToggle}
          class="button button-quiet people-toggle"
          aria-expanded={peopleOpen}
          aria-controls="people"
          aria-label={here === undefined ? "People here" : `People here: ${here}`}
          onClick={() => { setPeopleOpen(!peopleOpen); }}
        >
          <PeopleIcon />
          {here?.toLocaleString()}
        </button>
        <button
          type="button"
          class="button button-quiet me"
          aria-label={`Change your name, ${name}`}
          onClick={() => { setRenaming(true); }}
        >
          <Avatar name={name} small />
          <bdi class="me-name">{name}</bdi>
        </button>
      </header>

      <main class="talk">
        <MessageList messages={messages} names={names} live={online} onEarlier={room.earlier} />
        <OutboxList outbox={outbox} onRetry={room.resend} onDiscard={room.discard} />
        <Composer enabled={online} title={title} onSend={room.send} />
      </main>

      <PeoplePanel
        people={people}
        names={names}
        me={me}
        live={online}
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
