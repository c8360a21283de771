/**
 * What came over the wire is `unknown`: these say what is in it. A payload that is not what it should be yields
 * `undefined` in the parsers beside this, and their reader drops it.
 */

export type Fields = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is no record has no fields. */
export function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** What is no list is empty. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What is none of those that `parse` knows is left out. */
export function all<T>(value: unknown, parse: (each: unknown) => T | undefined): T[] {
  return list(value).flatMap((each) => {
    const parsed = parse(each);
    return parsed === undefined ? [] : [parsed];
  });
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A number that counts something: whole and not negative. */
export function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** A message's place: 1, 2, 3, … */
export function place(value: unknown): number | undefined {
  return count(value) === 0 ? undefined : count(value);
}
