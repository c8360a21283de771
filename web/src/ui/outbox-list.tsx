import type { JSX } from "preact";
import type { Draft } from "../protocol/talk";
import type { Outbox, Outgoing } from "../room/outbox";
import { explain } from "../room/words";
import { momentOf, secondOf } from "./moments";

export type OutboxListProps = {
  readonly outbox: Outbox;
  readonly onRetry: (draft: Draft) => void;
  readonly onDiscard: (id: string) => void;
};

/** What the server has not confirmed. A message on its way shows only once it takes long (see the style sheet). */
export function OutboxList({ outbox, onRetry, onDiscard }: OutboxListProps): JSX.Element {
  return (
    <ul class="outbox" aria-live="polite" aria-label="Not sent yet">
      {outbox.map((outgoing) => (
        <li key={outgoing.id} class={`outgoing outgoing-${lookOf(outgoing.status)}`}>
          <p class="outgoing-body" dir="auto">
            {outgoing.text}
          </p>
          <span class="outgoing-status">{describe(outgoing.status)}</span>
          {outgoing.status.kind === "refused" && (
            <button type="button" class="button-link" onClick={() => { onRetry(outgoing); }}>
              Send again
            </button>
          )}
          {(outgoing.status.kind === "refused" || outgoing.status.kind === "held") && (
            <button type="button" class="button-link" onClick={() => { onDiscard(outgoing.id); }}>
              Discard
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

/** What has its place already is as good as there. */
function lookOf({ kind }: Outgoing["status"]): string {
  return kind === "stored" ? "sending" : kind;
}

function describe(status: Outgoing["status"]): string {
  switch (status.kind) {
    case "sending":
      return "Sending…";
    case "waiting":
      return "Not confirmed yet: it is sent automatically when the connection is back.";
    case "stored":
      return "Sent. Loading the messages before it.";
    case "held":
      return `Too soon after the last message: it is sent automatically at ${secondOf(status.until)}.`;
    case "refused":
      return explain(status.fault, momentOf);
  }
}
