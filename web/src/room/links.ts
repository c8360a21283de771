/** A piece of a message: plain text, or the address of a page. */
export type Piece = { readonly text: string; readonly href: string | undefined };

const ADDRESS = /https?:\/\/[^\s<>"]+/giu;
/** What ends a sentence rather than an address. */
const TRAILING = /[.,;:!?'*_~]+$/u;

/** Finds the addresses in a text. Joined again, the pieces are the text. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const address = trimmed(match[0]);
    if (!URL.canParse(address)) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), href: undefined });
    pieces.push({ text: address, href: address });
    end = match.index + address.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), href: undefined });
  return pieces;
}

/** A closing bracket belongs to the address only if it was opened there. */
function trimmed(found: string): string {
  let address = found.replace(TRAILING, "");
  for (const [open, close] of [["(", ")"], ["[", "]"]] as const) {
    while (address.endsWith(close) && times(address, close) > times(address, open)) {
      address = address.slice(0, -1).replace(TRAILING, "");
    }
  }
  return address;
}

function times(text: string, character: string): number {
  return text.split(character).length - 1;
}
