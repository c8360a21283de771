/** How several seconds become one point: a rate by its mean; a time or an error by its greatest, which must not vanish. */
export type Fold = "mean" | "max";

export type Point = {
  readonly second: number;
  /** `undefined` where nothing was measured. */
  readonly value: number | undefined;
};

/** At most `most` points over all seconds; each stands at the last of its seconds. */
export function thin(points: readonly Point[], most: number, fold: Fold): Point[] {
  if (points.length <= most) return [...points];
  const each = Math.ceil(points.length / most);
  const thinned: Point[] = [];
  for (let from = 0; from < points.length; from += each) {
    const group = points.slice(from, from + each);
    const values = group.flatMap(({ value }) => (value === undefined ? [] : [value]));
    thinned.push({ second: group.at(-1)?.second ?? 0, value: folded(values, fold) });
  }
  return thinned;
}

function folded(values: readonly number[], fold: Fold): number | undefined {
  if (values.length === 0) return undefined;
  return fold === "max" ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0) / values.length;
}
