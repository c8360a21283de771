/** Figures as people read them; the same forms as in the terminal. */

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** `1,234,567`. */
export function count(value: number): string {
  return WHOLE.format(value);
}

/** For axes: `950`, `1.5k`, `20k`, `3M`. */
export function shortCount(value: number): string {
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (Math.abs(value) >= size) return `${trimmed(value / size)}${unit}`;
  }
  return trimmed(value);
}

/** A time in microseconds: `850 µs`, `12.3 ms`, `4.20 s`. */
export function time(us: number): string {
  if (us < 1e3) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${digits(us / 1e3)} ms`;
  return `${digits(us / 1e6)} s`;
}

/** For axes: `100 µs`, `5 ms`, `2.5 s`. */
export function shortTime(us: number): string {
  if (us < 1e3) return `${trimmed(us)} µs`;
  if (us < 1e6) return `${trimmed(us / 1e3)} ms`;
  return `${trimmed(us / 1e6)} s`;
}

/** `02:05`, `1:02:05`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const tail = `${String(minutes).padStart(2, "0")}:${String(whole % 60).padStart(2, "0")}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

/** A share of 1: `61 %`, `0.4 %`. */
export function share(value: number): string {
  const percent = value * 100;
  return `${percent === 0 || percent >= 10 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** `512 B`, `1.5 KiB`, `20.0 GiB`. */
export function bytes(value: number): string {
  const [scaled, unit] = inByteUnit(value);
  return `${scaled.toFixed(unit === "B" ? 0 : 1)} ${unit}`;
}

/** For axes: `512 B`, `1.5 KiB`, `20 GiB`. */
export function shortBytes(value: number): string {
  const [scaled, unit] = inByteUnit(value);
  return `${trimmed(scaled)} ${unit}`;
}

function inByteUnit(value: number): [number, string] {
  let [scaled, unit] = [value, 0];
  while (scaled >= 1024 && unit < BYTE_UNITS.length - 1) [scaled, unit] = [scaled / 1024, unit + 1];
  return [scaled, BYTE_UNITS[unit] ?? ""];
}

/** `1.25 cores`. */
export function cores(value: number): string {
  return `${value.toFixed(2)} ${value === 1 ? "core" : "cores"}`;
}

function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(3)));
}
