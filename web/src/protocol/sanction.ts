import { count, fields, text } from "./payload";

/** That one may not write for a while, here or in the whole community; or may again. */
export type Mute = {
  /** `undefined`: in the whole community. */
  readonly conversation: string | undefined;
  readonly on: boolean;
  /** In milliseconds of Unix time; `undefined` for good. */
  readonly until: number | undefined;
};

/** `sanction`: `{"conversation", "kind", "until", "on"}`. A ban ends the join, which says more. */
export function parseMute(payload: unknown): Mute | undefined {
  const { conversation, kind, on, until } = fields(payload);
  if (kind !== "mute" || typeof on !== "boolean") return undefined;
  return { conversation: text(conversation), on, until: count(until) };
}
