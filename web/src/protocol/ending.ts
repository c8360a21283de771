import type { Ending } from "./events";
import { fields } from "./payload";

const ENDINGS: ReadonlyMap<unknown, Ending> = new Map([
  [1012, "restart"],
  [1013, "slow"],
  [4401, "signed_out"],
  [4403, "signed_out"],
]);

/** What the code of a close event says; of most there is nothing to say. */
export function endingOf(event: unknown): Ending | undefined {
  return ENDINGS.get(fields(event)["code"]);
}
