import type { Channel } from "phoenix";

/** Acts on an event of a channel; what `parse` does not know is dropped. */
export function listen<T>(
  channel: Channel,
  event: string,
  parse: (payload: unknown) => T | undefined,
  act: (parsed: T) => void,
): void {
  channel.on(event, (payload) => {
    const parsed = parse(payload);
    if (parsed !== undefined) act(parsed);
  });
}
