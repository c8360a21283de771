/**
 * The guest token of a community, with which the same guest comes back. Storage may be switched off: then it lasts as
 * long as the page.
 */
export class TokenStorage {
  readonly #key: string;
  #token: string | undefined;

  constructor(community: string) {
    this.#key = `throng:token:${community}`;
    try {
      this.#token = localStorage.getItem(this.#key) ?? undefined;
    } catch {
      this.#token = undefined;
    }
  }

  load(): string | undefined {
    return this.#token;
  }

  save(token: string | undefined): void {
    this.#token = token;
    try {
      if (token === undefined) localStorage.removeItem(this.#key);
      else localStorage.setItem(this.#key, token);
    } catch {
      // The token then lasts as long as the page.
    }
  }
}
