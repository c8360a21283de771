import type { JSX } from "preact";
import type { Outbox, Outgoing } from "../room/outbox";

export type OutboxListProps = {
  readonly outbox: Outbox;
  readonly onRetry: (id: string, text: string) => void;
  readonly onDiscard: (id: string) => void;
};

/** What the server has not confirmed. A message on its way shows only once it takes long (see the style sheet). */
export function OutboxList({ outbox, onRetry, onDiscard }: OutboxListProps): JSX.Element {
  return (
    <ul class="outbox" aria-live="polite" aria-label="Not sent yet">
      {outbox.map((outgoing) => (
        <li key={outgoing.id} class={`outgoing outgoing-${outgoing.status.kind}`}>
          <p class="outgoing-body" dir="auto">
            {outgoing.text}
          </p>
          <span class="outgoing-status">{describe(outgoing.status)}</span>
          {outgoing.status.kind !== "sending" && (
            <>
              <button
                type="button"
                class="button-link"
                onClick={() => { onRetry(outgoing.id, outgoing.text); }}
              >
                Send again
              </button>
              <button type="button" class="button-link" onClick={() => { onDiscard(outgoing.id); }}>
                Discard
              </button>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function describe(status: Outgoing["status"]): string {
  switch (status.kind) {
    case "sending":
      return "Sending…";
    case "refused":
      return `Refused: ${status.reason}`;
    case "unconfirmed":
      return "No answer: it may not have arrived";
  }
}
