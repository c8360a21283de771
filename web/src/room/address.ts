/** Which room a page is: `/c/COMMUNITY/r/ROOM`. */
export type RoomAddress = { readonly community: string; readonly room: string };

/** What every server has. */
export const LOBBY: RoomAddress = { community: "default", room: "lobby" };

const PATH = /^\/c\/([a-z0-9_-]{1,40})\/r\/([a-z0-9_-]{1,64})\/?$/u;

export function roomPath({ community, room }: RoomAddress): string {
  return `/c/${community}/r/${room}`;
}

export function roomAt(path: string): RoomAddress | undefined {
  const [, community, room] = PATH.exec(path) ?? [];
  return community === undefined || room === undefined ? undefined : { community, room };
}
