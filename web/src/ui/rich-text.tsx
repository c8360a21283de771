import type { JSX } from "preact";
import { piecesOf } from "../room/links";

/** A message's text as it was written; addresses can be followed. */
export function RichText({ text }: { readonly text: string }): JSX.Element {
  return (
    <p class="message-body" dir="auto">
      {piecesOf(text).map(({ text: piece, href }) =>
        href === undefined ? (
          piece
        ) : (
          <a href={href} target="_blank" rel="noopener noreferrer nofollow ugc">
            {piece}
          </a>
        ),
      )}
    </p>
  );
}
