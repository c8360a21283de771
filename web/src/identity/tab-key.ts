const KEY_BYTES = 12;

/** A presence key that no other tab has. (`crypto.randomUUID` would need a secure context; a LAN address is none.) */
export function randomTabKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
