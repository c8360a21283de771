import { splitPlace } from "../room/address";

/** The place of the message to which the address leads, taken out of it: a reload stays where one has read on to. */
export function takePlace(): number | undefined {
  const { hash, pathname, search } = location;
  const { place, rest } = splitPlace(hash);
  if (place !== undefined) history.replaceState(history.state, "", `${pathname}${search}${rest}`);
  return place;
}
