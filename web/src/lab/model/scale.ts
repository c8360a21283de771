/** Where values stand on an axis, and which values are written beside it. */

export type Scale = {
  /** 0 at the lower end, 1 at the upper. */
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
};

/** From 0 to a round value that is not below `max`. */
export function linear(max: number, ticks = 4): Scale {
  const step = roundStep((max > 0 ? max : 1) / ticks);
  const top = Math.ceil((max > 0 ? max : 1) / step - 1e-9) * step;
  return { at: (value) => clamp(value / top), ticks: range(Math.round(top / step)).map((index) => index * step) };
}

/** As `linear`, in powers of two times 1, 2, 4 …, so that sizes read as whole KiB, MiB and GiB. */
export function binary(max: number): Scale {
  const step = 2 ** Math.ceil(Math.log2((max > 0 ? max : 1) / 4));
  const top = Math.ceil((max > 0 ? max : 1) / step) * step;
  return { at: (value) => clamp(value / top), ticks: range(Math.round(top / step)).map((index) => index * step) };
}

/** Powers of ten from the one that is not above `min` to the one that is not below `max`; what is 0 stands at the end. */
export function logarithmic(min: number, max: number): Scale {
  const low = Math.floor(Math.log10(min > 0 ? min : 1));
  const high = Math.max(low + 1, Math.ceil(Math.log10(max > 0 ? max : 1) - 1e-9));
  return {
    at: (value) => (value > 0 ? clamp((Math.log10(value) - low) / (high - low)) : 0),
    ticks: range(high - low).map((index) => 10 ** (low + index)),
  };
}

/** Times of a run that are written below a graph: at most `most`, at round distances. */
export function clockTicks(from: number, to: number, most: number): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
  const step = steps.find((seconds) => (to - from) / seconds <= most) ?? 7200;
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step);
  return last < first ? [] : range(last - first).map((index) => (first + index) * step);
}

/** 1, 2 or 5 times a power of ten, not below `rough`. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough - 1e-9 * power) ?? 10;
  return factor * power;
}

/** 0 … last. */
function range(last: number): number[] {
  return Array.from({ length: last + 1 }, (_, index) => index);
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}
