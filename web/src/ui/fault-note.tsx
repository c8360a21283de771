import type { JSX } from "preact";
import type { Fault } from "../protocol/fault";
import { explain } from "../room/words";
import { CloseIcon } from "./icons";
import { momentOf } from "./moments";

export type FaultNoteProps = { readonly fault: Fault; readonly onDismiss: () => void };

/** Why something that one did to a message did not happen. */
export function FaultNote({ fault, onDismiss }: FaultNoteProps): JSX.Element {
  return (
    <div class="fault" role="alert">
      <p>{explain(fault, momentOf)}</p>
      <button type="button" class="button button-quiet fault-dismiss" aria-label="Dismiss" onClick={onDismiss}>
        <CloseIcon />
      </button>
    </div>
  );
}
