import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RoomState } from "../room/state";
import { Avatar } from "./avatar";
import { CloseIcon } from "./icons";
import type { RoomActions } from "./use-room";

/** People whose names are asked for at once. */
const SHOWN_MAX = 50;

export type BlockedDialogProps = {
  readonly state: RoomState;
  readonly actions: Pick<RoomActions, "block" | "askName">;
  readonly onClose: () => void;
};

/** Whom one blocks, and the way to take it back. */
export function BlockedDialog({ state, actions, onClose }: BlockedDialogProps): JSX.Element {
  const { blocks, names, link } = state;
  const { block, askName } = actions;
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [shown, setShown] = useState(SHOWN_MAX);

  useLayoutEffect(() => {
    dialog.current?.showModal();
    heading.current?.focus();
  }, []);

  useEffect(() => {
    for (const person of [...blocks].slice(0, shown)) askName(person);
  }, [blocks, shown, askName]);

  // Whoever is not to be seen any more has no name.
  const people = [...blocks].slice(0, shown).map((person) => ({ person, name: names.get(person)?.name ?? "Somebody" }));
  return (
    <dialog ref={dialog} class="dialog blocked" aria-labelledby="blocked-title" onClose={onClose}>
      <div class="blocked-heading">
        <h2 id="blocked-title" ref={heading} tabIndex={-1}>
          Blocked people
        </h2>
        <button type="button" class="button button-quiet blocked-close" aria-label="Close" onClick={() => dialog.current?.close()}>
          <CloseIcon />
        </button>
      </div>
      {people.length === 0 ? (
        <p class="muted">You have not blocked anybody.</p>
      ) : (
        <ul class="blocked-list">
          {people.map(({ person, name }) => (
            <li key={person} class="person">
              <Avatar name={name} small />
              <bdi class="person-name">{name}</bdi>
              <button
                type="button"
                class="button blocked-undo"
                aria-label={`Unblock ${name}`}
                disabled={link.phase !== "online"}
                onClick={() => {
                  block(person, false);
                  // Its button goes with the line.
                  heading.current?.focus();
                }}
              >
                Unblock
              </button>
            </li>
          ))}
        </ul>
      )}
      {blocks.size > shown && (
        <button type="button" class="button button-quiet" onClick={() => { setShown(shown + SHOWN_MAX); }}>
          More people
        </button>
      )}
    </dialog>
  );
}
