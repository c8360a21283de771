import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { loadName, saveName } from "../identity/name-storage";
import { forgetSiteToken, takeSiteToken, watchSiteToken } from "../identity/site-token";
import { TokenStorage } from "../identity/token-storage";
import type { Identity } from "../protocol/credentials";
import type { RoomAddress } from "../room/address";
import { RoomPage } from "./room-page";
import { Welcome } from "./welcome";

export type AppProps = {
  readonly endpoint: string;
  readonly address: RoomAddress;
  /** The message of the room to which the address leads. */
  readonly seq: number | undefined;
};

/** Whom the host site sends is known; everybody else says a name first. Then the room. */
export function App({ endpoint, address, seq }: AppProps): JSX.Element {
  const { community } = address;
  const tokens = useMemo(() => new TokenStorage(community), [community]);
  const [siteToken, setSiteToken] = useState(() => takeSiteToken(community));
  const [name, setName] = useState(loadName);

  useEffect(() => watchSiteToken(() => { setSiteToken(takeSiteToken(community)); }), [community]);

  const identity = useMemo((): Identity | undefined => {
    if (siteToken !== undefined) return { kind: "member", token: siteToken };
    return name === undefined ? undefined : { kind: "guest", name, tokens };
  }, [siteToken, name, tokens]);

  /** A name belongs to a guest: another name is another guest. */
  function choose(chosen: string): void {
    if (chosen !== name) tokens.save(undefined);
    saveName(chosen);
    setName(chosen);
  }

  function becomeGuest(): void {
    forgetSiteToken(community);
    setSiteToken(undefined);
  }

  if (identity === undefined) return <Welcome room={address.room} onName={choose} />;
  return (
    <RoomPage
      endpoint={endpoint}
      address={address}
      identity={identity}
      seq={seq}
      onRename={choose}
      onBecomeGuest={becomeGuest}
    />
  );
}
