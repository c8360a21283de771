import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Status } from "../protocol/person";
import { nameOf, type Names } from "../room/names";
import { headcount, type People } from "../room/people";
import { Avatar } from "./avatar";
import { CloseIcon } from "./icons";

export type PeoplePanelProps = {
  readonly people: People;
  readonly names: Names;
  /** One's own id, once it is known. */
  readonly me: string | undefined;
  /** False while there is no connection: the list is the last one known. */
  readonly live: boolean;
  /** Matters on narrow screens only, where the panel covers the page: wide ones always show it beside the talk. */
  readonly open: boolean;
  /** Opens a private conversation with somebody. */
  readonly onWrite: (person: string) => void;
  readonly onClose: () => void;
};

export function PeoplePanel({ people, names, me, live, open, onWrite, onClose }: PeoplePanelProps): JSX.Element {
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
        <PeopleBody people={people} names={names} me={me} live={live} onWrite={onWrite} />
      </aside>
      <div class="people-scrim" onClick={onClose} />
    </>
  );
}

type PeopleBodyProps = Pick<PeoplePanelProps, "people" | "names" | "me" | "live" | "onWrite">;

function PeopleBody({ people, names, me, live, onWrite }: PeopleBodyProps): JSX.Element {
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
                  title="Write in private"
                  aria-label={`Write to ${name} in private`}
                  disabled={!live}
                  onClick={() => { onWrite(person); }}
                >
                  <bdi>{name}</bdi>
                </button>
              )}
              {status !== "online" && <span class="person-status muted">{status}</span>}
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
