import type { Ending, RoomEvent, TransportName } from "../protocol/events";
import type { Fault } from "../protocol/fault";

/** Where this page stands with the server. */
export type Link =
  | { readonly phase: "connecting" }
  | { readonly phase: "joining"; readonly transport: TransportName }
  | { readonly phase: "online"; readonly transport: TransportName }
  | { readonly phase: "refused"; readonly transport: TransportName; readonly fault: Fault }
  /** `attempts` failed since the last time the socket was open, its loss included, for which the server gave a reason. */
  | { readonly phase: "offline"; readonly attempts: number; readonly why: Ending | undefined }
  | { readonly phase: "removed" };

export const unlinked: Link = { phase: "connecting" };

export function reduceLink(link: Link, event: RoomEvent): Link {
  switch (event.type) {
    case "opened":
      return { phase: "joining", transport: event.transport };
    case "joined":
      return "transport" in link ? { phase: "online", transport: link.transport } : link;
    case "refused":
      return "transport" in link ? { phase: "refused", transport: link.transport, fault: event.fault } : link;
    case "interrupted":
      return "transport" in link ? { phase: "joining", transport: link.transport } : link;
    case "closed":
      return link.phase === "offline"
        ? { ...link, attempts: link.attempts + 1 }
        : { phase: "offline", attempts: 1, why: event.why };
    case "removed":
      return { phase: "removed" };
    case "described":
    case "community_described":
    case "page":
    case "brought":
    case "not_brought":
    case "quoted":
    case "said":
    case "edited":
    case "changed":
    case "reacted":
    case "typing":
    case "named":
    case "role_given":
    case "muted":
    case "read":
    case "people_listed":
    case "person_changed":
    case "people_counted":
    case "friends_seen":
    case "own_refused":
    case "tabs_changed":
    case "blocks_changed":
      return link;
  }
}
