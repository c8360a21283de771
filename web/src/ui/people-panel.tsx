import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { People } from "../lobby/people";
import { Avatar } from "./avatar";
import { CloseIcon } from "./icons";

export type PeoplePanelProps = {
  readonly people: People;
  readonly ownKey: string;
  /** False while there is no connection: the list is the last one known. */
  readonly live: boolean;
  /** Matters on narrow screens only, where the panel covers the page: wide ones always show it beside the talk. */
  readonly open: boolean;
  readonly onClose: () => void;
};

export function PeoplePanel({ people, ownKey, live, open, onClose }: PeoplePanelProps): JSX.Element {
  const closeButton = useRef<HTMLButtonElement>(null);

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
            {people.kind === "listed" && <span class="people-count">{people.people.length.toLocaleString()}</span>}
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
        <PeopleBody people={people} ownKey={ownKey} />
      </aside>
      <div class="people-scrim" onClick={onClose} />
    </>
  );
}

function PeopleBody({ people, ownKey }: { readonly people: People; readonly ownKey: string }): JSX.Element {
  switch (people.kind) {
    case "unknown":
      return <p class="people-note muted">Looking around…</p>;
    case "counted":
      return (
        <p class="people-crowd">
          <strong>{people.count.toLocaleString()}</strong>
          <span class="muted">people are here: too many to list by name.</span>
        </p>
      );
    case "listed":
      return (
        <ul class="people-list" tabIndex={0} aria-label="People here">
          {people.people.map((person) => (
            <li key={person.key} class="person">
              <Avatar name={person.name} small />
              <bdi class="person-name">{person.name}</bdi>
              {person.key === ownKey && <span class="person-you">you</span>}
            </li>
          ))}
        </ul>
      );
  }
}
