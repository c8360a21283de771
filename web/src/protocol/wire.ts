/**
 * Payloads of `rooms:lobby`, from `unknown` to what the page believes.
 * A payload that is not what it should be yields `undefined`, and its reader drops it.
 */

export type Person = {
  /** The presence key: one per tab, so one person with two tabs is here twice. */
  readonly key: string;
  readonly name: string;
};

/** `new_msg`: `{"name": string, "body": string}`. */
export function parseMessage(payload: unknown): { name: string; body: string } | undefined {
  if (!isRecord(payload)) return undefined;
  const { name, body } = payload;
  if (typeof name !== "string" || typeof body !== "string") return undefined;
  return { name, body };
}

/** `presence_count`: `{"count": number}`. */
export function parseCount(payload: unknown): number | undefined {
  if (!isRecord(payload)) return undefined;
  const { count } = payload;
  return typeof count === "number" && Number.isInteger(count) && count >= 0 ? count : undefined;
}

/**
 * One entry of `presence_state`: `{"metas": [{"name": string}, …]}`.
 * Older metas come first, so the last one's name holds.
 */
export function parsePerson(key: string, entry: unknown): Person | undefined {
  if (!isRecord(entry) || !Array.isArray(entry["metas"])) return undefined;
  const meta: unknown = entry["metas"].at(-1);
  if (!isRecord(meta) || typeof meta["name"] !== "string") return undefined;
  return { key, name: meta["name"] };
}

/** An error reply: `{"reason": string}` by convention. */
export function parseReason(response: unknown): string {
  return isRecord(response) && typeof response["reason"] === "string" ? response["reason"] : "no reason given";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
