import { useEffect } from "preact/hooks";

/** The page's title counts what was not read. */
export function useUnreadTitle(title: string, unread: number): void {
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ""}${title} · Throng`;
  }, [title, unread]);
}
