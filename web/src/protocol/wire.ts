import type { Channel } from "phoenix";
import { ask, type Answer } from "./ask";
import { fields } from "./payload";

/** The way to one conversation and back. */
export type Wire = {
  /** Asks, and gets an answer or why there is none. */
  readonly ask: (event: string, payload: object) => Promise<Answer>;
  /** Tells what nobody waits for. */
  readonly tell: (event: string, payload: object) => void;
  /** Acts on an event; what `parse` does not know is dropped. */
  readonly hear: <T>(event: string, parse: (payload: unknown) => T | undefined, act: (parsed: T) => void) => void;
  /** Nothing is heard any more. */
  readonly hangUp: () => void;
};

/**
 * A room has a topic of its own; a direct conversation shares the person's with all others, and its `conversation` stands
 * in everything that goes and comes.
 */
export function wireOf(channel: Channel, conversation?: string): Wire {
  const about = conversation === undefined ? {} : { conversation };
  const heard: { event: string; ref: number }[] = [];
  return {
    ask: (event, payload) => ask(channel, event, { ...payload, ...about }),
    tell: (event, payload) => { channel.push(event, { ...payload, ...about }); },
    hear: (event, parse, act) => {
      const ref = channel.on(event, (payload) => {
        // What tells of the conversation itself is named by its id.
        const { conversation: named, id } = fields(payload);
        if (conversation !== undefined && (named ?? id) !== conversation) return;
        const parsed = parse(payload);
        if (parsed !== undefined) act(parsed);
      });
      heard.push({ event, ref });
    },
    hangUp: () => {
      for (const { event, ref } of heard) channel.off(event, ref);
    },
  };
}
