import { hasToken, splitFragment } from "./fragment";

/**
 * The token with which the host site sent somebody here, in the address's fragment. It is taken out of the address before
 * anything else happens, and kept for this tab alone, so that a reload needs no new one.
 */
export function takeSiteToken(community: string): string | undefined {
  const { hash, pathname, search } = location;
  if (!hasToken(hash)) return load(community);
  const { token, rest } = splitFragment(hash);
  history.replaceState(history.state, "", `${pathname}${search}${rest}`);
  save(community, token);
  return token;
}

/** Whoever comes from here on is not who the site said. */
export function forgetSiteToken(community: string): void {
  save(community, undefined);
}

/** Calls `arrived` when the site sends somebody here again while the page is open. */
export function watchSiteToken(arrived: () => void): () => void {
  const look = (): void => {
    if (hasToken(location.hash)) arrived();
  };
  window.addEventListener("hashchange", look);
  return () => { window.removeEventListener("hashchange", look); };
}

function load(community: string): string | undefined {
  try {
    return sessionStorage.getItem(keyOf(community)) ?? undefined;
  } catch {
    return undefined;
  }
}

function save(community: string, token: string | undefined): void {
  try {
    if (token === undefined) sessionStorage.removeItem(keyOf(community));
    else sessionStorage.setItem(keyOf(community), token);
  } catch {
    // Storage is switched off: the token lasts as long as the page.
  }
}

function keyOf(community: string): string {
  return `throng:site-token:${community}`;
}
