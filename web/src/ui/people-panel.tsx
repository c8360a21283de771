import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Status } from "../protocol/person";
import { nameOf, type Names } from "../room/names";
import { headcount } from "../room/people";
import type { RoomState } from "../room/state";
import { Avatar } from "./avatar";
import { CloseIcon } from "./icons";
import { Menu } from "./menu";
import { MenuButton } from "./menu-button";
import { personItems } from "./person-items";
import { useMenu, type MenuState } from "./use-menu";
import type { RoomActions } from "./use-room";

export type PeoplePanelProps = {
  readonly state: RoomState;
  readonly actions: Pick<RoomActions, "block">;
  /** Matters on narrow screens only, where the panel covers the page: wide ones always show it beside the talk. */
  readonly open: boolean;
  /** Opens a private conversation with somebody. */
  readonly onWrite: (person: string) => void;
  /** Asks before somebody is blocked. */
  readonly onBlock: (person: string) => void;
  readonly onClose: () => void;
};

export function PeoplePanel(props: PeoplePanelProps): JSX.Element {
  const { state, actions, open, onWrite, onBlock, onClose } = props;
  const { people, names } = state;
  // Without a connection the list is the last one known.
  const live = state.link.phase === "online";
  const closeButton = useRef<HTMLButtonElement>(null);
  const menus = useMenu<string>();

  useEffect(() => {
    if (open) closeButton.current?.focus();
  }, [open]);

  return (
    <>
      <aside
        id="people"
        class={`people${open ? " people-open" : ""}${live ? "" : " people-stale"}`}
        aria-labelledby="people-title"
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
        }}
      >
        <div class="people-heading">
          <h2 id="people-title">
            Here now
            {people.kind === "listed" && <span class="people-count">{headcount(people)?.toLocaleString()}</span>}
          </h2>
          <button
            type="button"
            ref={closeButton}
            class="button button-quiet people-close"
            aria-label="Close"
            onClick={onClose}
          >
            <CloseIcon />
          </button>
        </div>
        <PeopleBody state={state} live={live} menus={menus} onWrite={onWrite} />
        {menus.menu !== undefined && (
          <Menu
            label={`Options for ${nameOf(names, menus.menu.about)}`}
            anchor={menus.menu.anchor}
            items={personItems(menus.menu.about, state, onWrite, { block: actions.block, onBlock })}
            onClose={menus.close}
          />
        )}
      </aside>
      <div class="people-scrim" onClick={onClose} />
    </>
  );
}

type PeopleBodyProps = Pick<PeoplePanelProps, "state" | "onWrite"> & {
  readonly live: boolean;
  readonly menus: MenuState<string>;
};

function PeopleBody({ state, live, menus, onWrite }: PeopleBodyProps): JSX.Element {
  const { people, names, me, blocks } = state;
  switch (people.kind) {
    case "unknown":
      return <p class="people-note muted">Loading…</p>;
    case "counted":
      return (
        <p class="people-crowd">
          <strong>{people.count.toLocaleString()}</strong>
          <span class="muted">people are here, too many to list.</span>
        </p>
      );
    case "listed":
      return (
        <ul class="people-list" aria-label="People here">
          {byName(people.people, names).map(({ person, name, status }) => (
            <li key={person} class={`person person-${status}`}>
              <Avatar name={name} small />
              {person === me ? (
                <>
                  <bdi class="person-name">{name}</bdi>
                  <span class="tag person-you">you</span>
                </>
              ) : (
                <button
                  type="button"
                  class="person-name person-write"
                  title="Send a direct message"
                  aria-label={`Send a direct message to ${name}`}
                  disabled={!live}
                  onClick={() => { onWrite(person); }}
                >
                  <bdi>{name}</bdi>
                </button>
              )}
              {blocks.has(person) && <span class="tag">blocked</span>}
              {status !== "online" && <span class="person-status muted">{status}</span>}
              {person !== me && live && (
                <MenuButton
                  label={`Options for ${name}`}
                  open={menus.menu?.about === person}
                  onToggle={(button) => { menus.toggle(person, button); }}
                  class="person-menu"
                />
              )}
            </li>
          ))}
        </ul>
      );
  }
}

function byName(
  people: ReadonlyMap<string, Status>,
  names: Names,
): { person: string; name: string; status: Status }[] {
  return Array.from(people, ([person, status]) => ({ person, name: nameOf(names, person), status })).sort(
    (a, b) => a.name.localeCompare(b.name) || a.person.localeCompare(b.person),
  );
}
