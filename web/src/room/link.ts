import type { RoomEvent, TransportName } from "../protocol/events";

/** Where this page stands with the server. */
export type Link =
  | { readonly phase: "connecting" }
  | { readonly phase: "joining"; readonly transport: TransportName }
  | { readonly phase: "online"; readonly transport: TransportName }
  | { readonly phase: "refused"; readonly transport: TransportName; readonly reason: string }
  /** `attempts` failed since the last time the socket was open, its loss included. */
  | { readonly phase: "offline"; readonly attempts: number }
  | { readonly phase: "removed" };

export const unlinked: Link = { phase: "connecting" };

export function reduceLink(link: Link, event: RoomEvent): Link {
  switch (event.type) {
    case "opened":
      return { phase: "joining", transport: event.transport };
    case "joined":
      return "transport" in link ? { phase: "online", transport: link.transport } : link;
    case "refused":
      return "transport" in link ? { phase: "refused", transport: link.transport, reason: event.reason } : link;
    case "interrupted":
      return "transport" in link ? { phase: "joining", transport: link.transport } : link;
    case "closed":
      return { phase: "offline", attempts: link.phase === "offline" ? link.attempts + 1 : 1 };
    case "removed":
      return { phase: "removed" };
    case "page":
    case "earlier":
    case "said":
    case "changed":
    case "reacted":
    case "named":
    case "people_listed":
    case "person_changed":
    case "people_counted":
      return link;
  }
}
