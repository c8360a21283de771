import type { JSX } from "preact";
import { initialOf, toneOf } from "./tone";

export type AvatarProps = {
  readonly name: string;
  readonly small?: boolean;
};

/** Decoration: the name always stands beside it. */
export function Avatar({ name, small = false }: AvatarProps): JSX.Element {
  return (
    <span class={`avatar tone-${toneOf(name)}${small ? " avatar-small" : ""}`} aria-hidden="true">
      {initialOf(name)}
    </span>
  );
}
