import type { Channel } from "phoenix";
import { noAnswer, parseFault, type Fault } from "./fault";

/** What became of something that was asked. */
export type Answer =
  | { readonly ok: true; readonly response: unknown }
  | { readonly ok: false; readonly fault: Fault };

/** Asks on a channel. While it is not joined the question waits, as long as the client library's timeout. */
export function ask(channel: Channel, event: string, payload: object): Promise<Answer> {
  return new Promise((resolve) => {
    channel
      .push(event, payload)
      .receive("ok", (response) => { resolve({ ok: true, response }); })
      .receive("error", (response) => { resolve({ ok: false, fault: parseFault(response) }); })
      .receive("timeout", () => { resolve({ ok: false, fault: noAnswer }); });
  });
}
