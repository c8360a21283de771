import { fields, text } from "./payload";

/** What a community is called and how it looks. */
export type Community = {
  /** `undefined` where it has none that can be shown. */
  readonly name: string | undefined;
  /** Its accent colour as `#rrggbb`; `undefined` for the page's own. */
  readonly color: string | undefined;
};

/** `{"name": "…", "look": {"color": "#336699", …}}`, as the answer to a join has it. */
export function parseCommunity(payload: unknown): Community | undefined {
  const community = fields(payload);
  const name = text(community["name"]);
  if (name === undefined) return undefined;
  const color = text(fields(community["look"])["color"]);
  return { name: name === "" ? undefined : name, color: color !== undefined && /^#[0-9a-f]{6}$/i.test(color) ? color : undefined };
}
