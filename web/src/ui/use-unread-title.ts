import { useEffect, useRef, useState } from "preact/hooks";

const TITLE = "Lobby · Throng";

/** While the page is hidden its title counts what came. `nextId` counts every entry that ever came. */
export function useUnreadTitle(nextId: number): void {
  const [hidden, setHidden] = useState(document.hidden);
  const seenId = useRef(nextId);
  if (!hidden) seenId.current = nextId;
  const unread = nextId - seenId.current;

  useEffect(() => {
    const update = (): void => { setHidden(document.hidden); };
    document.addEventListener("visibilitychange", update);
    return () => { document.removeEventListener("visibilitychange", update); };
  }, []);

  useEffect(() => {
    document.title = unread > 0 ? `(${unread}) ${TITLE}` : TITLE;
  }, [unread]);
}
