import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { NameForm } from "./name-form";

export type RenameDialogProps = {
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
};

/** A native modal dialog: it keeps the focus, closes on Escape and gives the focus back. */
export function RenameDialog({ name, onName, onClose }: RenameDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);

  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);

  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="rename-title" onClose={onClose}>
      <h2 id="rename-title">Change your name</h2>
      <NameForm
        initialName={name}
        action="Save"
        onName={(chosen) => {
          onName(chosen);
          dialog.current?.close();
        }}
        onCancel={() => dialog.current?.close()}
      />
    </dialog>
  );
}
