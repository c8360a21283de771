import { useEffect } from "preact/hooks";
import type { Tab } from "../protocol/tab";
import { isBack } from "../room/tabs";
import type { RoomActions } from "./use-room";

/** A conversation that came back from the archive stays in the list once it was looked at. */
export function useUnarchive(line: Tab | undefined, { keep }: RoomActions): void {
  const back = line !== undefined && isBack(line);

  useEffect(() => {
    if (line !== undefined && back) keep(line, { archived: false });
    // What else changes of the line is no reason to ask again.
  }, [back, line?.conversation.id, keep]);
}
