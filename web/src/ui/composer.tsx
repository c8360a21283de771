import type { JSX, TargetedKeyboardEvent } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { Message } from "../protocol/message";
import { textOf } from "../room/compose";
import { tooMany } from "../room/length";
import type { Link } from "../room/link";
import { ComposerContext } from "./composer-context";
import { ComposerHint } from "./composer-hint";
import { CheckIcon, SendIcon } from "./icons";
import type { Composing } from "./use-compose";
import { useEarlySend } from "./use-early-send";

export type ComposerProps = {
  readonly composing: Composing;
  /** Without a connection typing goes on, and sending waits. */
  readonly link: Link;
  /** What the room is called. */
  readonly title: string;
  /** Who wrote the message that is answered, and what it says. */
  readonly answered: { readonly name: string; readonly text: string } | undefined;
  readonly slowModeS: number;
  /** Why one may not write now, in words. */
  readonly muted: string | undefined;
  /** One's own last message, which ↑ in an empty field edits. */
  readonly last: Message | undefined;
  /** Something was typed, or sent. */
  readonly onTyped: (text: string) => void;
  /** A new message goes out. */
  readonly onSent: () => void;
};

/** Enter sends, Shift+Enter begins a new line, ↑ in an empty field edits, Escape gives up. */
export function Composer(props: ComposerProps): JSX.Element {
  const { composing, link, title, answered, last, onTyped, onSent } = props;
  const enabled = link.phase === "online";
  const { compose, field, writing } = composing;
  const { editing } = compose;
  const text = textOf(compose);
  const over = tooMany(text);
  const opening = link.phase === "connecting" || link.phase === "joining";
  const sendable = enabled && text.trim() !== "" && over === 0 && editing?.saving !== true;
  const sendEarly = useEarlySend(text, opening, sendable, submit);

  useLayoutEffect(() => { writing.focus(); }, [writing]);

  // Whoever edits goes on where the text ends.
  useLayoutEffect(() => {
    const { current } = field;
    if (editing && current) current.setSelectionRange(current.value.length, current.value.length);
  }, [editing?.message.seq]);

  function submit(): void {
    if (!sendable) {
      sendEarly();
      return;
    }
    if (editing === undefined) onSent();
    writing.submit();
    onTyped("");
  }

  function onKeyDown(event: TargetedKeyboardEvent<HTMLTextAreaElement>): void {
    // A key that ends the composition of a character (Japanese, Chinese …) is not ours.
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "ArrowUp" && text === "" && last !== undefined && enabled) {
      event.preventDefault();
      writing.edit(last);
    } else if (event.key === "Escape") {
      writing.cancel();
    }
  }

  return (
    <form
      class={`composer${editing === undefined ? "" : " composer-editing"}`}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <ComposerContext editing={editing !== undefined} answered={answered} onCancel={writing.cancel} />
      <label for="body" class="visually-hidden">
        Message
      </label>
      <textarea
        id="body"
        ref={field}
        rows={1}
        dir="auto"
        placeholder={`Message ${title}`}
        enterkeyhint="send"
        aria-describedby="composer-hint"
        aria-invalid={over > 0}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          writing.type(value);
          if (editing === undefined) onTyped(value);
        }}
        onKeyDown={onKeyDown}
      />
      <button type="submit" class="button button-primary composer-send" disabled={!sendable}>
        {editing === undefined ? <SendIcon /> : <CheckIcon />}
        <span class="composer-send-text">{editing === undefined ? "Send" : "Save"}</span>
      </button>
      <ComposerHint {...props} over={over} />
    </form>
  );
}
