import type { JSX, RefObject } from "preact";
import { headcount } from "../room/people";
import type { RoomState } from "../room/state";
import { Avatar } from "./avatar";
import { ConnectionStatus } from "./connection-status";
import { PeopleIcon } from "./icons";
import markUrl from "./mark.svg";

export type RoomHeaderProps = {
  readonly state: RoomState;
  readonly title: string;
  /** How one is called. */
  readonly name: string;
  readonly peopleOpen: boolean;
  readonly peopleToggle: RefObject<HTMLButtonElement | null>;
  readonly onPeople: () => void;
  /** For guests: who comes from a site is called as it says. */
  readonly onRename: (() => void) | undefined;
  readonly onReconnect: () => void;
  readonly onReenter: () => void;
};

/** What the room is called and about, how the connection is, and who one is. */
export function RoomHeader(props: RoomHeaderProps): JSX.Element {
  const { state, title, name, peopleOpen, peopleToggle, onPeople, onRename, onReconnect, onReenter } = props;
  const here = headcount(state.people);
  const topic = state.conversation?.topic ?? "";
  return (
    <header class="room-header">
      <img class="mark" src={markUrl} alt="" width="32" height="32" />
      <div class="room-title">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {topic !== "" && (
          <p class="room-topic muted" dir="auto" title={topic}>
            {topic}
          </p>
        )}
      </div>
      <ConnectionStatus link={state.link} onReconnect={onReconnect} onReenter={onReenter} />
      <button
        type="button"
        ref={peopleToggle}
        class="button button-quiet people-toggle"
        aria-expanded={peopleOpen}
        aria-controls="people"
        aria-label={here === undefined ? "People here" : `People here: ${here}`}
        onClick={onPeople}
      >
        <PeopleIcon />
        {here?.toLocaleString()}
      </button>
      {onRename ? (
        <button type="button" class="button button-quiet me" aria-label={`Change your name, ${name}`} onClick={onRename}>
          <Me name={name} />
        </button>
      ) : (
        <span class="me">{name !== "" && <Me name={name} />}</span>
      )}
    </header>
  );
}

function Me({ name }: { readonly name: string }): JSX.Element {
  return (
    <>
      <Avatar name={name} small />
      <bdi class="me-name">{name}</bdi>
    </>
  );
}
