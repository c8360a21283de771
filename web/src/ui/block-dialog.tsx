import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export type BlockDialogProps = {
  /** How they are called. */
  readonly name: string;
  readonly onBlock: () => void;
  readonly onClose: () => void;
};

/** Says what a block does before it is done. */
export function BlockDialog({ name, onBlock, onClose }: BlockDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);

  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);

  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="block-title" aria-describedby="block-words" onClose={onClose}>
      <h2 id="block-title">
        Block <bdi>{name}</bdi>?
      </h2>
      <p id="block-words" class="muted">
        You can no longer send each other direct messages or add each other to groups. Existing messages stay, and you still
        see each other in rooms. The other person is not notified, but finds out when writing to you.
      </p>
      <div class="form-actions">
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button
          type="button"
          class="button button-danger"
          autoFocus
          onClick={() => {
            onBlock();
            dialog.current?.close();
          }}
        >
          Block
        </button>
      </div>
    </dialog>
  );
}
