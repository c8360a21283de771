/** The longest message, in bytes of UTF-8. */
export const TEXT_BYTES_MAX = 8 * 1024;

/** How many characters at the end of a text are too many; 0 if it fits. */
export function tooMany(text: string): number {
  let [bytes, over] = [0, 0];
  for (const character of text) {
    bytes += bytesOf(character.codePointAt(0) ?? 0);
    if (bytes > TEXT_BYTES_MAX) over += 1;
  }
  return over;
}

function bytesOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x1_0000 ? 3 : 4;
}
