/** As many as `styles/tones.css` has. */
const TONES = 8;

/** A name has the same colour on every page: FNV-1a over its UTF-16 units. */
export function toneOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0) % TONES;
}

/** The first letter or digit, else the first character: `<b>` becomes B, not a bracket. */
export function initialOf(name: string): string {
  const [first = "?"] = /[\p{L}\p{N}]/u.exec(name) ?? Array.from(name);
  return first.toLocaleUpperCase();
}
