import type { Tab } from "../protocol/tab";
import { ArchiveIcon, BellIcon, MuteIcon } from "./icons";
import type { MenuItem } from "./menu";
import type { RoomActions } from "./use-room";

/** What can be done with a conversation that one has. */
export function conversationItems(line: Tab, { keep }: RoomActions): MenuItem[] {
  const { muted, archived } = line;
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
  ];
}
