/** People who are remembered; past it the one longest ago is forgotten. */
const PEOPLE_MAX = 5000;

/**
 * Whose presence belongs to the room's list. It is told by the room's topic or by one's own, and one's own tells of those
 * as well with whom one only talks in private.
 */
export class Roll {
  readonly #here = new Set<string>();
  #friends: ReadonlySet<string> = new Set();

  /** Seen in the room: listed there, come in, or heard. */
  meet(person: string): void {
    const [oldest] = this.#here;
    if (this.#here.size >= PEOPLE_MAX && oldest !== undefined) this.#here.delete(oldest);
    this.#here.add(person);
  }

  /** Is no member of the room any more. */
  dismiss(person: string): void {
    this.#here.delete(person);
  }

  /** Those with whom one talks in private. */
  befriend(people: readonly string[]): void {
    this.#friends = new Set([...this.#friends, ...people]);
  }

  /** Of whom nothing else is known the own topic tells because of a room. */
  has(person: string): boolean {
    return this.#here.has(person) || !this.#friends.has(person);
  }
}
