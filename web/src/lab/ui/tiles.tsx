import type { JSX } from "preact";
import { count, share, time } from "../model/figures";
import type { RunStatus } from "../model/wire";

/** The figures that one looks at first. */
export function Tiles({ status }: { readonly status: RunStatus }): JSX.Element {
  const { users, latest, totals } = status;
  const hasHttp = latest.http > 0;
  return (
    <dl class="tiles">
      <Tile name="Users" value={count(users.active)} note={`of ${count(users.wanted)} wanted`} />
      <Tile name="Connected" value={count(users.connected)} note={`${count(users.joined)} joined`} />
      <Tile name="Sent" value={`${count(latest.sent)}/s`} note={`${count(totals.sent)} in total`} />
      <Tile name="Received" value={`${count(latest.received)}/s`} note={`${count(totals.received)} in total`} />
      {hasHttp && <Tile name="HTTP" value={`${count(latest.http)}/s`} note={`p99 ${time(latest.httpTime.p99)}`} />}
      <Tile
        name="Latency p99"
        value={latest.latency.count > 0 ? time(latest.latency.p99) : "–"}
        note={status.latency.count > 0 ? `${time(status.latency.p99)} in total` : "nothing measured"}
      />
      <Tile name="Lost" value={count(totals.lost)} note={`of ${count(totals.expected)} expected`} bad={totals.lost > 0} />
      <Tile name="Errors" value={count(totals.errors)} note={`${count(latest.errors)} last second`} bad={totals.errors > 0} />
      <Tile name="Generator CPU" value={latest.generatorCpu.toFixed(2)} note={`cores, steal ${share(latest.steal)}`} />
    </dl>
  );
}

type TileProps = { readonly name: string; readonly value: string; readonly note: string; readonly bad?: boolean };

function Tile({ name, value, note, bad = false }: TileProps): JSX.Element {
  return (
    <div class={bad ? "tile card tile-bad" : "tile card"}>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd class="muted">{note}</dd>
    </div>
  );
}
