import type { JSX } from "preact";
import type { Ending } from "../protocol/events";
import type { Link } from "../room/link";

export type ConnectionStatusProps = {
  readonly link: Link;
  readonly onReconnect: () => void;
  readonly onReenter: () => void;
};

export function ConnectionStatus({ link, onReconnect, onReenter }: ConnectionStatusProps): JSX.Element {
  const { mood, text } = describe(link);
  return (
    <div class={`status status-${mood}`}>
      <span class="status-dot" aria-hidden="true" />
      <span role="status">{text}</span>
      {link.phase === "offline" && link.attempts > 1 && (
        // Seen, but not announced at every attempt.
        <span class="status-attempts" aria-hidden="true">
          ({link.attempts})
        </span>
      )}
      {link.phase === "offline" && (
        <button type="button" class="button-link" onClick={onReconnect}>
          Try now
        </button>
      )}
      {link.phase === "removed" && (
        <button type="button" class="button-link" onClick={onReenter}>
          Rejoin
        </button>
      )}
    </div>
  );
}

const ENDINGS: Readonly<Record<Ending, string>> = {
  restart: "Offline: the server is restarting",
  slow: "Offline: the connection was too slow",
  signed_out: "Offline: your sign-in has expired",
};

function describe(link: Link): { mood: "good" | "busy" | "bad"; text: string } {
  switch (link.phase) {
    case "connecting":
    case "joining":
      return { mood: "busy", text: "Connecting…" };
    case "online":
      return { mood: "good", text: link.transport === "longpoll" ? "Online (long-polling)" : "Online" };
    case "refused":
      return { mood: "bad", text: "Cannot join" };
    case "offline":
      return { mood: "bad", text: link.why === undefined ? "Offline, retrying" : ENDINGS[link.why] };
    case "removed":
      return { mood: "bad", text: "You are no longer in this room" };
  }
}
