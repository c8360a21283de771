import { useEffect, useRef, useState } from "preact/hooks";

/** While the page is hidden its title counts what came. `arrived` counts every message that ever came. */
export function useUnreadTitle(title: string, arrived: number): void {
  const [hidden, setHidden] = useState(document.hidden);
  const seen = useRef(arrived);
  if (!hidden) seen.current = arrived;
  const unread = arrived - seen.current;

  useEffect(() => {
    const update = (): void => { setHidden(document.hidden); };
    document.addEventListener("visibilitychange", update);
    return () => { document.removeEventListener("visibilitychange", update); };
  }, []);

  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ""}${title} · Throng`;
  }, [title, unread]);
}
