/** Who said that they type says it again within seconds; after this they have stopped, or are gone. */
const SILENCE_MS = 6000;
/** People whose typing is followed at once; more are a crowd that nobody reads by name. */
const TYPISTS_MAX = 50;

/** Ends the typing of whoever falls silent without a word. */
export class Typists {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #tell: (person: string, on: boolean) => void;

  constructor(tell: (person: string, on: boolean) => void) {
    this.#tell = tell;
  }

  heard(person: string, on: boolean): void {
    const known = this.#timers.get(person);
    if (known === undefined && (!on || this.#timers.size >= TYPISTS_MAX)) return;
    clearTimeout(known);
    if (on) this.#timers.set(person, setTimeout(() => { this.heard(person, false); }, SILENCE_MS));
    else this.#timers.delete(person);
    if (on !== (known !== undefined)) this.#tell(person, on);
  }

  /** Nothing is heard any more. */
  forget(): void {
    for (const person of this.#timers.keys()) this.heard(person, false);
  }
}
