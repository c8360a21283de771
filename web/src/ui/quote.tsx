import type { JSX } from "preact";
import { ReplyIcon } from "./icons";

export type QuoteProps = {
  readonly seq: number;
  /** Who said it; `undefined` where that is not known. */
  readonly name: string | undefined;
  readonly text: string;
  readonly onOpen: (seq: number) => void;
};

/** What a message answers, in a line; it leads there. */
export function Quote({ seq, name, text, onOpen }: QuoteProps): JSX.Element {
  return (
    <button type="button" class="quote" tabIndex={-1} title="Show the original message" onClick={() => { onOpen(seq); }}>
      <ReplyIcon />
      <span class="visually-hidden">In reply to </span>
      {name !== undefined && <bdi class="quote-name">{name}</bdi>}
      <span class="quote-text" dir="auto">
        {text}
      </span>
    </button>
  );
}
