import type { JSX } from "preact";
import { CloseIcon, EditIcon, ReplyIcon } from "./icons";

export type ComposerContextProps = {
  readonly editing: boolean;
  readonly answered: { readonly name: string; readonly text: string } | undefined;
  readonly onCancel: () => void;
};

/** Above the field: which message is edited or answered. */
export function ComposerContext({ editing, answered, onCancel }: ComposerContextProps): JSX.Element | null {
  if (!editing && answered === undefined) return null;
  return (
    <div class="composer-context" role="group" aria-label={editing ? "Editing" : "Answering"}>
      {editing ? <EditIcon /> : <ReplyIcon />}
      <p class="composer-context-text">
        {editing || answered === undefined ? (
          "Editing your message"
        ) : (
          <>
            Answering <bdi class="quote-name">{answered.name}</bdi> <span class="muted">{answered.text}</span>
          </>
        )}
      </p>
      <button
        type="button"
        class="button button-quiet composer-cancel"
        aria-label={editing ? "Stop editing" : "Do not answer"}
        title="Cancel (Escape)"
        onClick={onCancel}
      >
        <CloseIcon />
      </button>
    </div>
  );
}
