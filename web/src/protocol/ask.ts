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

/** As `ask`, of what nobody need wait for in vain: the connection's end is no answer, at once. */
export function askWhileConnected(channel: Channel, event: string, payload: object): Promise<Answer> {
  return new Promise((resolve) => {
    const lost = channel.onError(() => { settle({ ok: false, fault: noAnswer }); });
    const settle = (answer: Answer): void => {
      channel.off("phx_error", lost);
      resolve(answer);
    };
    void ask(channel, event, payload).then(settle);
  });
}
