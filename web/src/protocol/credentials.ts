/** What keeps a guest the same one. */
export type Tokens = {
  load(): string | undefined;
  /** `undefined` forgets it. */
  save(token: string | undefined): void;
};

/** Who comes: somebody whom the host site vouches for, or a guest, who wants to be called so. */
export type Identity =
  | { readonly kind: "member"; readonly token: string }
  | { readonly kind: "guest"; readonly name: string; readonly tokens: Tokens };

/** What a socket says of who comes with it. */
export function credentials(identity: Identity): object {
  const token = identity.kind === "member" ? identity.token : identity.tokens.load();
  return identity.kind === "guest" && token === undefined ? { name: identity.name } : { token };
}
