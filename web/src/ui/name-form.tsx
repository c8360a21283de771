import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { checkName, NAME_LENGTH_MAX } from "../identity/name";

export type NameFormProps = {
  readonly initialName: string;
  /** What the button says. */
  readonly action: string;
  readonly onName: (name: string) => void;
  readonly onCancel?: () => void;
};

export function NameForm({ initialName, action, onName, onCancel }: NameFormProps): JSX.Element {
  const [typed, setTyped] = useState(initialName);
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);

  // Before the page is painted, so that no key is typed into nothing.
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);

  function submit(event: Event): void {
    event.preventDefault();
    const check = checkName(typed);
    if (check.ok) {
      onName(check.name);
    } else {
      setProblem(check.problem);
      input.current?.focus();
    }
  }

  return (
    <form class="name-form" onSubmit={submit} noValidate>
      <label for="name">Your name</label>
      <input
        id="name"
        ref={input}
        type="text"
        dir="auto"
        autoComplete="nickname"
        spellcheck={false}
        maxLength={NAME_LENGTH_MAX * 2}
        value={typed}
        aria-invalid={problem !== undefined}
        aria-describedby="name-problem"
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setProblem(undefined);
        }}
      />
      <p id="name-problem" class="problem" aria-live="polite">
        {problem}
      </p>
      <div class="form-actions">
        {onCancel && (
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="button button-primary">
          {action}
        </button>
      </div>
    </form>
  );
}
