import type { JSX, TargetedFocusEvent, TargetedKeyboardEvent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

export type MenuItem = {
  readonly words: string;
  readonly icon: JSX.Element;
  readonly onChoose: () => void;
};

export type MenuProps = {
  /** What it is about. */
  readonly label: string;
  /** The button that opened it, beside which it stands, and to which the focus goes back. */
  readonly anchor: HTMLElement;
  readonly items: readonly MenuItem[];
  readonly onClose: () => void;
};

/** Between the menu and the edges of the window, in pixels. */
const MARGIN_PX = 8;
const GAP_PX = 4;

/** What can be done with something, above everything else. ↑ and ↓ go from one to the next, Escape and Tab leave it. */
export function Menu({ label, anchor, items, onClose }: MenuProps): JSX.Element {
  const menu = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    const { current } = menu;
    if (current === null) return;
    current.showPopover();
    stand(current, anchor);
    current.querySelector("button")?.focus();
  }, [anchor]);

  useEffect(() => {
    const onPointerDown = ({ target }: PointerEvent): void => {
      // The button itself closes what it opened.
      if (target instanceof Node && !menu.current?.contains(target) && !anchor.contains(target)) onClose();
    };
    document.addEventListener("pointerdown", onPointerDown);
    window.addEventListener("resize", onClose);
    return () => {
      document.removeEventListener("pointerdown", onPointerDown);
      window.removeEventListener("resize", onClose);
    };
  }, [anchor, onClose]);

  function leave(): void {
    anchor.focus();
    onClose();
  }

  function onKeyDown(event: TargetedKeyboardEvent<HTMLDivElement>): void {
    // A panel around it has other uses for keys.
    event.stopPropagation();
    // From the button on Tab goes where it would have gone.
    if (event.key === "Escape" || event.key === "Tab") leave();
    if (event.key === "Escape") event.preventDefault();
    else walk(event);
  }

  function onFocusOut({ relatedTarget, currentTarget }: TargetedFocusEvent<HTMLDivElement>): void {
    if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget) && relatedTarget !== anchor) onClose();
  }

  return (
    <div ref={menu} class="menu" popover="manual" role="menu" aria-label={label} onKeyDown={onKeyDown} onFocusOut={onFocusOut}>
      {items.map(({ words, icon, onChoose }) => (
        <button
          key={words}
          type="button"
          class="menu-item"
          role="menuitem"
          tabIndex={-1}
          onClick={() => {
            leave();
            onChoose();
          }}
        >
          {icon}
          <span>{words}</span>
        </button>
      ))}
    </div>
  );
}

/** Below the button and from its beginning on; above it, or up to its end, where there is no place for that. */
function stand(menu: HTMLElement, anchor: HTMLElement): void {
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const isNarrow = at.left + width > window.innerWidth - MARGIN_PX;
  const left = isNarrow ? Math.max(at.right - width, MARGIN_PX) : at.left;
  const below = at.bottom + GAP_PX;
  const fits = below + height <= window.innerHeight - MARGIN_PX;
  menu.style.left = `${left}px`;
  menu.style.top = `${fits ? below : Math.max(at.top - GAP_PX - height, MARGIN_PX)}px`;
}

function walk(event: TargetedKeyboardEvent<HTMLDivElement>): void {
  const items = Array.from(event.currentTarget.querySelectorAll("button"));
  const at = items.findIndex((item) => item === document.activeElement);
  const keys: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
  const to = keys[event.key];
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length)?.focus();
}
