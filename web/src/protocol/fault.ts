import { count, fields, list, text } from "./payload";

/** Why something did not happen: `{"code": string, "message": string, "details": {…}}`; where the server refused before the
 * messenger was asked, `{"reason": string, "retry_after_ms": number}`. */
export type Fault = {
  /** For programs; `NO_ANSWER` where none came. */
  readonly code: string;
  /** For people, in the server's words. */
  readonly message: string;
  /** How long to wait before trying again. */
  readonly retryAfterMs: number | undefined;
  /** When a ban or a mute ends, in milliseconds of Unix time; `undefined` for good. */
  readonly until: number | undefined;
  /** The names of the fields that break a rule, and the rules. */
  readonly broken: readonly { readonly field: string; readonly rule: string }[];
  /** The name of the limit that is reached. */
  readonly limit: string | undefined;
  /** The reason that a community's own site gave. */
  readonly reason: string | undefined;
};

/** It may have happened or not. */
export const NO_ANSWER = "no_answer";

export const noAnswer: Fault = parseFault({ code: NO_ANSWER, message: "no answer" });

export function parseFault(response: unknown): Fault {
  const { code, message, details, reason: early, retry_after_ms: earlyRetryAfterMs } = fields(response);
  const { retry_after_ms: retryAfterMs, until, fields: broken, limit, reason } = fields(details);
  return {
    code: text(code) ?? text(early) ?? "unknown",
    message: text(message) ?? text(early) ?? "no reason given",
    retryAfterMs: count(retryAfterMs) ?? count(earlyRetryAfterMs),
    until: count(until),
    broken: list(broken).map((each) => {
      const { field, code: rule } = fields(each);
      return { field: text(field) ?? "", rule: text(rule) ?? "" };
    }),
    limit: text(limit),
    reason: text(reason),
  };
}
