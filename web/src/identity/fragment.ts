/** As `docs/identity.md` says: the part of an address behind `#`, in the form of a query. */
const PARAMETER = "token";

/** A JSON Web Token, as it is written (RFC 7515 section 7.1): three parts of base64url. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/u;
const TOKEN_LENGTH_MAX = 8 * 1024;

/** The token in an address's fragment, and what is left of the fragment without it. */
export type Fragment = { readonly token: string | undefined; readonly rest: string };

/** Splits `#token=…`. What is no token is none, and does not stay in the address either. */
export function splitFragment(hash: string): Fragment {
  const parameters = parametersOf(hash);
  const token = parameters.find(isToken)?.slice(PARAMETER.length + 1);
  const rest = parameters.filter((each) => !isToken(each)).join("&");
  const good = token !== undefined && token.length <= TOKEN_LENGTH_MAX && TOKEN.test(token);
  return { token: good ? token : undefined, rest: rest === "" ? "" : `#${rest}` };
}

/** Whether a fragment has something that must not stay in the address. */
export function hasToken(hash: string): boolean {
  return parametersOf(hash).some(isToken);
}

function parametersOf(hash: string): string[] {
  return hash.replace(/^#/u, "").split("&").filter((each) => each !== "");
}

function isToken(parameter: string): boolean {
  return parameter.startsWith(`${PARAMETER}=`);
}
