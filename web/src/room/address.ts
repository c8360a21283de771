/** Which room a page is: `/c/COMMUNITY/r/ROOM`. */
export type RoomAddress = { readonly community: string; readonly room: string };

/** What every server has. */
export const LOBBY: RoomAddress = { community: "default", room: "lobby" };

/** As a fragment has it, in the form of a query: `#at=42`. */
const PARAMETER = "at";
const PLACE = /^at=([1-9]\d{0,14})$/u;

const PATH = /^\/c\/([a-z0-9_-]{1,40})\/r\/([a-z0-9_-]{1,64})\/?$/u;

export function roomPath({ community, room }: RoomAddress): string {
  return `/c/${community}/r/${room}`;
}

export function roomAt(path: string): RoomAddress | undefined {
  const [, community, room] = PATH.exec(path) ?? [];
  return community === undefined || room === undefined ? undefined : { community, room };
}

/** The address of a message of a room. */
export function messagePath(address: RoomAddress, seq: number): string {
  return `${roomPath(address)}#${PARAMETER}=${seq}`;
}

/** The place of the message that an address's fragment names, and what is left of the fragment without it. */
export function splitPlace(hash: string): { readonly place: number | undefined; readonly rest: string } {
  const parameters = hash.replace(/^#/u, "").split("&").filter((each) => each !== "");
  const named = parameters.flatMap((each) => PLACE.exec(each)?.[1] ?? []);
  const rest = parameters.filter((each) => !each.startsWith(`${PARAMETER}=`)).join("&");
  return { place: named[0] === undefined ? undefined : Number(named[0]), rest: rest === "" ? "" : `#${rest}` };
}
