import type { Channel } from "phoenix";
import { ask, type Answer } from "./ask";
import { listen } from "./listen";
import { all, fields, text } from "./payload";

/** What happens to the list of those whom one blocks. */
export type BlockChange =
  /** All of them, in place of those that were known. */
  | { readonly kind: "listed"; readonly people: readonly string[] }
  /** Somebody is blocked now, or no more. */
  | { readonly kind: "set"; readonly person: string; readonly on: boolean };

/** `block`: `{"person": string, "on": boolean}`. */
export function parseBlock(payload: unknown): { person: string; on: boolean } | undefined {
  const { person, on } = fields(payload);
  return typeof person === "string" && typeof on === "boolean" ? { person, on } : undefined;
}

/** Whom one blocks, as the own topic tells it to every device, and the ways to change that. It keeps no list. */
export class BlockNews {
  readonly #channel: Channel;
  readonly #emit: (change: BlockChange) => void;
  /** Counts what was told: a list that was asked for before it may be without it. */
  #told = 0;

  constructor(channel: Channel, emit: (change: BlockChange) => void) {
    this.#channel = channel;
    this.#emit = emit;
    listen(channel, "block", parseBlock, (block) => { this.#set(block); });
  }

  /** Asks for all. Where no answer comes, the next join asks again. */
  async list(): Promise<void> {
    const told = this.#told;
    const answer = await ask(this.#channel, "blocks", {});
    if (!answer.ok) return;
    if (told === this.#told) this.#emit({ kind: "listed", people: all(fields(answer.response)["people"], text) });
    else await this.list();
  }

  async block(person: string, on: boolean): Promise<Answer> {
    const answer = await ask(this.#channel, on ? "block" : "unblock", { person });
    // Where it was so before nothing is told.
    if (answer.ok) this.#set({ person, on });
    return answer;
  }

  #set(block: { person: string; on: boolean }): void {
    this.#told += 1;
    this.#emit({ kind: "set", ...block });
  }
}
