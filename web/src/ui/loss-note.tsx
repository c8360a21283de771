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
          ? "The server's messages were restored from a backup. The conversation was reloaded; the latest messages may be missing."
          : "There are too many new messages to load at once. These are the newest; scroll up for the others."}
      </p>
      <button type="button" class="button button-quiet fault-dismiss" aria-label="Dismiss" onClick={onDismiss}>
        <CloseIcon />
      </button>
    </div>
  );
}
