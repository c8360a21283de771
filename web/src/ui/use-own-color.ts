import { useEffect } from "preact/hooks";

/** The community's own accent colour in place of the page's, for as long as it has one; `tokens.css` keeps it readable. */
export function useOwnColor(color: string | undefined): void {
  useEffect(() => {
    if (color === undefined) return undefined;
    const root = document.documentElement;
    root.style.setProperty("--own-color", color);
    root.classList.add("own-color");
    return () => {
      root.classList.remove("own-color");
      root.style.removeProperty("--own-color");
    };
  }, [color]);
}
