import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { excerptOf } from "../room/excerpt";

export type DeleteDialogProps = {
  /** What the message says. */
  readonly text: string;
  /** Who wrote it; `undefined` if it is one's own. */
  readonly author: string | undefined;
  readonly onDelete: () => void;
  readonly onClose: () => void;
};

/** Asks before a message is gone for everybody. */
export function DeleteDialog({ text, author, onDelete, onClose }: DeleteDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);

  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);

  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="delete-title" onClose={onClose}>
      <h2 id="delete-title">
        {author === undefined ? "Delete your message?" : <>Delete the message by <bdi>{author}</bdi>?</>}
      </h2>
      <p class="dialog-quote" dir="auto">
        {excerptOf(text)}
      </p>
      <p class="muted">It is deleted for everybody. A note that a message was deleted remains.</p>
      <div class="form-actions">
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class="button button-danger"
          autoFocus
          onClick={() => {
            onDelete();
            dialog.current?.close();
          }}
        >
          Delete
        </button>
      </div>
    </dialog>
  );
}
