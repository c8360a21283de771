/** Runs tasks a few at a time, in the order in which they came: a server answers only so many questions at once. */
export class InTurn {
  readonly #atOnceMax: number;
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax;
  }

  run(task: () => Promise<void>): void {
    this.#waiting.push(task);
    this.#next();
  }

  #next(): void {
    if (this.#running >= this.#atOnceMax) return;
    const task = this.#waiting.shift();
    if (task === undefined) return;
    this.#running += 1;
    void task().finally(() => {
      this.#running -= 1;
      this.#next();
    });
  }
}
