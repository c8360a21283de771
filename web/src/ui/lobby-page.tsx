import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { headcount } from "../lobby/people";
import { Avatar } from "./avatar";
import { Composer } from "./composer";
import { ConnectionStatus } from "./connection-status";
import { PeopleIcon } from "./icons";
import markUrl from "./mark.svg";
import { MessageList } from "./message-list";
import { OutboxList } from "./outbox-list";
import { PeoplePanel } from "./people-panel";
import { RenameDialog } from "./rename-dialog";
import { useLobby } from "./use-lobby";
import { useUnreadTitle } from "./use-unread-title";

export type LobbyPageProps = {
  readonly endpoint: string;
  readonly tabKey: string;
  readonly name: string;
  readonly onRename: (name: string) => void;
};

export function LobbyPage({ endpoint, tabKey, name, onRename }: LobbyPageProps): JSX.Element {
  const lobby = useLobby({ endpoint, key: tabKey, name });
  const { link, people, messages, outbox } = lobby.state;
  const [peopleOpen, setPeopleOpen] = useState(false);
  const peopleToggle = useRef<HTMLButtonElement>(null);
  const [renaming, setRenaming] = useState(false);
  useUnreadTitle(messages.nextId);

  const here = headcount(people);
  return (
    <div class="lobby">
      <header class="lobby-header">
        <img class="mark" src={markUrl} alt="" width="32" height="32" />
        <h1>Lobby</h1>
        <ConnectionStatus link={link} onReconnect={lobby.reconnect} onReenter={lobby.reenter} />
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
        <MessageList messages={messages} />
        <OutboxList outbox={outbox} onRetry={lobby.send} onDiscard={lobby.discard} />
        <Composer enabled={link.phase === "online"} onSend={lobby.send} />
      </main>

      <PeoplePanel
        people={people}
        ownKey={tabKey}
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
