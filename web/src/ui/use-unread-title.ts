import { useEffect } from "preact/hooks";

/** The page's title counts what was not read, and ends with what the community is called. */
export function useUnreadTitle(title: string, unread: number, community: string): void {
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ""}${title} · ${community}`;
  }, [title, unread, community]);
}
