import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { share } from "../model/figures";
import { graphs } from "../model/graphs";
import { ErrorTable } from "./error-table";
import { GraphFigure } from "./graph-figure";
import { StatusHead } from "./status-head";
import { Tiles } from "./tiles";
import { useRun } from "./use-run";

export function Dashboard(): JSX.Element {
  const { status, rows, reachable } = useRun();
  const shown = useMemo(() => graphs(rows), [rows]);
  const [cursor, setCursor] = useState<number>();

  useEffect(() => {
    if (!status) return;
    const progress = status.progress === undefined || status.stage === "ended" ? "" : `${share(status.progress)} `;
    document.title = `${progress}${status.scenario} · Stampede`;
  }, [status]);

  if (!status) {
    return <p class="waiting" role="status">{reachable ? "Connecting to the run…" : "No connection to the run yet."}</p>;
  }
  const [from, to] = [rows[0]?.second ?? 0, rows.at(-1)?.second ?? 0];
  return (
    <main class="dashboard">
      <StatusHead status={status} reachable={reachable} />
      <Tiles status={status} />
      {rows.length > 0 && (
        <section class="graphs" aria-label="Graphs over time">
          {shown.map((graph) => (
            <GraphFigure key={graph.title} graph={graph} from={from} to={to} cursor={cursor} onCursor={setCursor} />
          ))}
        </section>
      )}
      <ErrorTable errors={status.errors} total={status.totals.errors} />
      <p class="muted foot">
        Seed {status.seed} · data: <a href="/api/status">status</a>, <a href="/api/series">series</a> and{" "}
        <a href="/metrics">metrics</a>
      </p>
    </main>
  );
}
