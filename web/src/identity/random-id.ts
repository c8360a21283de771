const ID_BYTES = 12;

/** An id that nobody else draws. (`crypto.randomUUID` would need a secure context; a LAN address is none.) */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
