import type { JSX } from "preact";
import type { Fault } from "../protocol/fault";
import { explainEntry } from "../room/words";
import { momentOf } from "./moments";

export type EntryNoteProps = {
  readonly fault: Fault;
  readonly onRetry: () => void;
  /** For who may choose how they are called. */
  readonly onRename: (() => void) | undefined;
  /** For whom the site vouches: the other way in. */
  readonly onBecomeGuest: (() => void) | undefined;
};

/** Why one is not let in, and what can be done about it. */
export function EntryNote({ fault, onRetry, onRename, onBecomeGuest }: EntryNoteProps): JSX.Element {
  return (
    <section class="entry" role="alert" aria-labelledby="entry-title">
      <h2 id="entry-title">You cannot join</h2>
      <p>{explainEntry(fault, momentOf)}</p>
      <div class="entry-actions">
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
        {fault.code === "name_invalid" && onRename && (
          <button type="button" class="button" onClick={onRename}>
            Choose another name
          </button>
        )}
        {fault.code.startsWith("token_") && onBecomeGuest && (
          <button type="button" class="button" onClick={onBecomeGuest}>
            Join as a guest
          </button>
        )}
      </div>
    </section>
  );
}
