import type { Tab } from "../protocol/tab";
import type { RoomState } from "../room/state";
import { otherOf } from "../room/tabs";
import { ArchiveIcon, BellIcon, MuteIcon } from "./icons";
import type { MenuItem } from "./menu";
import { blockItem } from "./person-items";
import type { RoomActions } from "./use-room";

/** What can be done with a conversation that one has, and with whom it is. */
export function conversationItems(
  line: Tab,
  state: RoomState,
  { keep, block }: RoomActions,
  onBlock: (person: string) => void,
): MenuItem[] {
  const { conversation, muted, archived } = line;
  const other = otherOf(conversation, state.me);
  return [
    {
      words: muted ? "Unmute" : "Mute",
      icon: muted ? <BellIcon /> : <MuteIcon />,
      onChoose: () => { keep(line, { muted: !muted }); },
    },
    {
      words: archived ? "Unarchive" : "Archive",
      icon: <ArchiveIcon />,
      onChoose: () => { keep(line, { archived: !archived }); },
    },
    ...(other === undefined ? [] : blockItem(other, state, { block, onBlock })),
  ];
}
