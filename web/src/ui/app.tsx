import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { loadName, saveName } from "../identity/name-storage";
import { LobbyPage } from "./lobby-page";
import { Welcome } from "./welcome";

export type AppProps = {
  readonly endpoint: string;
  readonly tabKey: string;
};

/** A name first, then the lobby. */
export function App({ endpoint, tabKey }: AppProps): JSX.Element {
  const [name, setName] = useState(loadName);

  function choose(chosen: string): void {
    saveName(chosen);
    setName(chosen);
  }

  if (name === undefined) return <Welcome onName={choose} />;
  return <LobbyPage endpoint={endpoint} tabKey={tabKey} name={name} onRename={choose} />;
}
