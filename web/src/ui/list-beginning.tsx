import type { JSX } from "preact";
import { hasEarlier } from "../room/messages";
import type { RoomState } from "../room/state";

export type ListBeginningProps = {
  readonly state: RoomState;
  readonly live: boolean;
  readonly onEarlier: (seq: number) => void;
};

/** What stands above the first message that is here. Older ones come by themselves; the button is for when they did not. */
export function ListBeginning({ state, live, onEarlier }: ListBeginningProps): JSX.Element | null {
  const { messages, conversation } = state;
  const title = conversation?.title ?? "";
  const [first] = messages.shown;
  if (first === undefined) return live ? <p class="messages-empty muted">No messages yet. Say hello!</p> : null;
  if (!hasEarlier(messages)) {
    return (
      <p class="messages-note muted">
        This is where {title === "" ? "the conversation" : <bdi>{title}</bdi>} begins.
      </p>
    );
  }
  const asked = messages.asked?.where === "earlier" ? messages.asked : undefined;
  const coming = asked?.failed === false;
  return (
    <div class="messages-earlier">
      {asked?.failed === true && <p role="alert">Earlier messages could not be loaded.</p>}
      <button
        type="button"
        class="button button-quiet"
        disabled={!live || coming}
        onClick={() => { onEarlier(first.seq); }}
      >
        {coming ? "Loading earlier messages…" : "Load earlier messages"}
      </button>
    </div>
  );
}
