import type { JSX } from "preact";
import { MoreIcon } from "./icons";

export type MenuButtonProps = {
  /** What the menu is about. */
  readonly label: string;
  readonly open: boolean;
  readonly onToggle: (button: HTMLElement) => void;
  readonly class?: string;
};

/** Opens what can be done with something, and closes it again. */
export function MenuButton({ label, open, onToggle, class: more = "" }: MenuButtonProps): JSX.Element {
  return (
    <button
      type="button"
      class={`menu-button ${more}`}
      aria-label={label}
      aria-haspopup="menu"
      aria-expanded={open}
      title={label}
      onClick={({ currentTarget }) => { onToggle(currentTarget); }}
    >
      <MoreIcon />
    </button>
  );
}
