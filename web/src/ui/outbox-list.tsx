import type { JSX } from "preact";
import type { Outbox, Outgoing } from "../lobby/outbox";

export type OutboxListProps = {
  readonly outbox: Outbox;
  readonly onRetry: (body: string) => void;
  readonly onDiscard: (id: number) => void;
};

/** What the server has not confirmed. A message on its way shows only once it takes long (see the style sheet). */
export function OutboxList({ outbox, onRetry, onDiscard }: OutboxListProps): JSX.Element {
  return (
    <ul class="outbox" aria-live="polite" aria-label="Not sent yet">
      {outbox.map((outgoing) => (
        <li key={outgoing.id} class={`outgoing outgoing-${outgoing.status.kind}`}>
          <p class="outgoing-body" dir="auto">
            {outgoing.body}
          </p>
          <span class="outgoing-status">{describe(outgoing.status)}</span>
          {outgoing.status.kind !== "sending" && (
            <>
              <button
                type="button"
                class="button-link"
                onClick={() => {
                  onDiscard(outgoing.id);
                  onRetry(outgoing.body);
                }}
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
