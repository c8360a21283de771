import type { JSX } from "preact";

export type BlockedNoteProps = { readonly name: string; readonly onUnblock: () => void };

/** Stands where one would write to somebody whom one blocks. */
export function BlockedNote({ name, onUnblock }: BlockedNoteProps): JSX.Element {
  return (
    <p class="composer-closed muted" role="status">
      You have blocked <bdi>{name}</bdi>: neither of you can write here.{" "}
      <button type="button" class="button-link" onClick={onUnblock}>
        Unblock
      </button>
    </p>
  );
}
