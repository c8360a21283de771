import { useCallback, useState } from "preact/hooks";

/** A menu that is open, and about what it is. */
export type OpenMenu<Subject> = { readonly about: Subject; readonly anchor: HTMLElement };

export type MenuState<Subject> = {
  readonly menu: OpenMenu<Subject> | undefined;
  /** Opens it, or closes it where it is open already. */
  readonly toggle: (about: Subject, anchor: HTMLElement) => void;
  readonly close: () => void;
};

/** One menu for a whole list. It stands beside the list: lines that change places would take it with them. */
export function useMenu<Subject>(): MenuState<Subject> {
  const [menu, setMenu] = useState<OpenMenu<Subject>>();
  const toggle = useCallback((about: Subject, anchor: HTMLElement) => {
    setMenu((open) => (open?.anchor === anchor ? undefined : { about, anchor }));
  }, []);
  const close = useCallback(() => { setMenu(undefined); }, []);
  return { menu, toggle, close };
}
