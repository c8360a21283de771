import type { JSX } from "preact";
import type { ComposerProps } from "./composer";

export type ComposerHintProps = ComposerProps & {
  /** How many characters are too many. */
  readonly over: number;
};

/** Below the field: what keeps the text from being sent, else what the keys do. */
export function ComposerHint(props: ComposerHintProps): JSX.Element {
  const problem = problemOf(props);
  const { composing, slowModeS, last } = props;
  return (
    <p id="composer-hint" class={`composer-hint ${problem === undefined ? "muted" : "composer-problem"}`}>
      <span role="status">{problem}</span>
      {problem === undefined && slowModeS > 0 && <span>Slow mode: one message every {pace(slowModeS)}. </span>}
      {problem === undefined && (
        <span class="composer-keys">
          <kbd>Enter</kbd> {composing.compose.editing === undefined ? "sends" : "saves"}, <kbd>Shift</kbd>{" "}
          <kbd>Enter</kbd> inserts a new line
          {composing.compose.editing !== undefined && (
            <>
              , <kbd>Esc</kbd> cancels
            </>
          )}
          {composing.compose.editing === undefined && last !== undefined && (
            <>
              , <kbd>↑</kbd> edits your last message
            </>
          )}
        </span>
      )}
    </p>
  );
}

function problemOf({ composing, link, muted, over }: ComposerHintProps): string | undefined {
  if (link.phase === "offline") return "You are offline. You can send your message when the connection is back.";
  if (link.phase === "refused") return "You could not join the room, so you cannot send messages.";
  if (link.phase === "removed") return "You are no longer in this room, so you cannot send messages.";
  if (over > 0) {
    const characters = over === 1 ? "1 character" : `${over.toLocaleString()} characters`;
    return `The message is ${characters} too long. Shorten it, or send it in parts.`;
  }
  return composing.compose.editing?.problem ?? muted;
}

function pace(seconds: number): string {
  if (seconds === 1) return "second";
  return seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
}
