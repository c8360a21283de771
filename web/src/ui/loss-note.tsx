import type { JSX } from "preact";
import { CloseIcon } from "./icons";

export type LossNoteProps = {
  /** The server's reason. */
  readonly why: string;
  readonly onDismiss: () => void;
};

/** That the talk goes on at its newest message, and not where the reader was. */
export function LossNote({ why, onDismiss }: LossNoteProps): JSX.Element {
  return (
    <div class="fault loss" role="status">
      <p>
        {why === "epoch"
          ? "The server's messages were restored from a copy. Here is the talk as it is now: what was said last may be missing from it."
          : "More was said while you were away than could be brought at once. Here is the newest; scroll up for the rest."}
      </p>
      <button type="button" class="button button-quiet fault-dismiss" aria-label="Dismiss" onClick={onDismiss}>
        <CloseIcon />
      </button>
    </div>
  );
}
