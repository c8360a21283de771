import type { JSX } from "preact";
import type { Tally } from "../protocol/message";

export type ReactionListProps = {
  readonly reactions: readonly Tally[];
  readonly enabled: boolean;
  /** Whether they can be reached by the tabulator key: those of one message at a time. */
  readonly reachable: boolean;
  readonly onReact: (emoji: string, on: boolean) => void;
};

/** What others reacted with: counted, and joined or left by a click. */
export function ReactionList({ reactions, enabled, reachable, onReact }: ReactionListProps): JSX.Element {
  return (
    <ul class="reactions" aria-label="Reactions">
      {reactions.map(({ emoji, count, mine }) => (
        <li key={emoji}>
          <button
            type="button"
            class={`reaction${mine ? " reaction-mine" : ""}`}
            tabIndex={reachable ? 0 : -1}
            aria-pressed={mine}
            aria-label={`${emoji} ${count}`}
            title={mine ? "Remove your reaction" : "Add this reaction"}
            disabled={!enabled}
            onClick={() => { onReact(emoji, !mine); }}
          >
            <span class="reaction-emoji">{emoji}</span>
            <span class="reaction-count">{count.toLocaleString()}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
