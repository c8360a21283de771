import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { loadName, saveName } from "../identity/name-storage";
import { TokenStorage } from "../identity/token-storage";
import type { RoomAddress } from "../room/address";
import { RoomPage } from "./room-page";
import { Welcome } from "./welcome";

export type AppProps = {
  readonly endpoint: string;
  readonly address: RoomAddress;
};

/** A name first, then the room. */
export function App({ endpoint, address }: AppProps): JSX.Element {
  const tokens = useMemo(() => new TokenStorage(address.community), [address.community]);
  const [name, setName] = useState(loadName);

  /** A name belongs to a guest: another name is another guest. */
  function choose(chosen: string): void {
    if (chosen !== name) tokens.save(undefined);
    saveName(chosen);
    setName(chosen);
  }

  if (name === undefined) return <Welcome room={address.room} onName={choose} />;
  return <RoomPage endpoint={endpoint} address={address} tokens={tokens} name={name} onRename={choose} />;
}
