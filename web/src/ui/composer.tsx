import type { JSX, TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { SendIcon } from "./icons";

const BODY_LENGTH_MAX = 2000;

export type ComposerProps = {
  /** False while there is no connection: typing goes on, sending waits. */
  readonly enabled: boolean;
  /** What the room is called. */
  readonly title: string;
  readonly onSend: (body: string) => void;
};

/** Enter sends, Shift+Enter begins a new line. */
export function Composer({ enabled, title, onSend }: ComposerProps): JSX.Element {
  const [body, setBody] = useState("");
  const input = useRef<HTMLTextAreaElement>(null);

  useLayoutEffect(() => {
    input.current?.focus();
  }, []);

  function send(): void {
    const trimmed = body.trim();
    if (!enabled || trimmed === "") return;
    onSend(trimmed);
    setBody("");
    input.current?.focus();
  }

  function onKeyDown(event: TargetedKeyboardEvent<HTMLTextAreaElement>): void {
    // Enter that ends the composition of a character (Japanese, Chinese …) is not ours.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label for="body" class="visually-hidden">
        Message
      </label>
      <textarea
        id="body"
        ref={input}
        rows={1}
        dir="auto"
        maxLength={BODY_LENGTH_MAX}
        placeholder={`Message ${title}`}
        enterkeyhint="send"
        aria-describedby="composer-hint"
        value={body}
        onInput={(event) => { setBody(event.currentTarget.value); }}
        onKeyDown={onKeyDown}
      />
      <button type="submit" class="button button-primary composer-send" disabled={!enabled || body.trim() === ""}>
        <SendIcon />
        <span class="composer-send-text">Send</span>
      </button>
      <p id="composer-hint" class="composer-hint muted">
        {enabled ? (
          <>
            <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> begins a new line
          </>
        ) : (
          "You can send as soon as the connection is back"
        )}
      </p>
    </form>
  );
}
