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
        In private neither of you can write to the other any more, and neither can bring the other into a group. What was
        said stays, and in rooms you go on seeing each other. They learn nothing of it before they try to write to you.
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
