/** The longest name, in characters as a person counts them. */
export const NAME_LENGTH_MAX = 40;

export type NameCheck =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: string };

/** A name as it will be sent: one line, no control characters, single spaces, neither empty nor too long. */
export function checkName(typed: string): NameCheck {
  const name = typed
    .normalize("NFC")
    .replace(/\p{Cc}/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
  if (name === "") return { ok: false, problem: "Please enter a name." };
  if (Array.from(name).length > NAME_LENGTH_MAX) {
    return { ok: false, problem: `Please keep it to ${NAME_LENGTH_MAX} characters.` };
  }
  return { ok: true, name };
}
