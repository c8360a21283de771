import type { JSX } from "preact";
import { nameOf, type Names } from "../room/names";
import { typingWords, type Typing } from "../room/typing";

export type TypingLineProps = { readonly typing: Typing; readonly names: Names };

/** Who writes just now. Its place is kept, so that nothing moves when it comes and goes; it is not read aloud. */
export function TypingLine({ typing, names }: TypingLineProps): JSX.Element {
  const words = typingWords(Array.from(typing, (person) => nameOf(names, person)));
  return (
    <p class="typing muted">
      {words !== "" && (
        <>
          <span class="typing-dots" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
          <bdi>{words}</bdi>
        </>
      )}
    </p>
  );
}
