import { bytes, cores, count, share, shortBytes, shortCount, shortTime, time } from "./figures";
import { binary, linear, logarithmic, type Scale } from "./scale";
import { thin, type Fold, type Point } from "./thin";
import type { Row, Spread } from "./wire";

/** What one graph shows, whatever its size. */
export type Graph = {
  readonly title: string;
  readonly curves: readonly Curve[];
  readonly scale: Scale;
  /** A value beside its curve's name. */
  readonly told: (value: number) => string;
  /** A value beside the axis. */
  readonly tick: (value: number) => string;
};

export type Curve = {
  readonly name: string;
  readonly points: readonly Point[];
  /** Which of the colours of `styles/graphs.css`; 0 is the pale one, for what is wanted, not what is. */
  readonly color: number;
};

type Source = {
  readonly name: string;
  readonly of: (row: Row) => number | undefined;
  readonly fold: Fold;
  readonly wanted?: boolean;
};

const POINTS_MAX = 300;
/** As many as there are colours. */
const SERVERS_MAX = 4;

/** All graphs for which there is something to show. */
export function graphs(rows: readonly Row[]): Graph[] {
  const hasHttp = rows.some((row) => row.http > 0);
  const hasMessages = !hasHttp || rows.some((row) => row.sent + row.received > 0);
  const shown = [
    counts("Users", rows, [
      { name: "wanted", of: (row) => row.usersWanted, fold: "mean", wanted: true },
      { name: "active", of: (row) => row.users, fold: "mean" },
      { name: "connected", of: (row) => row.connected, fold: "mean" },
      { name: "joined", of: (row) => row.joined, fold: "mean" },
    ]),
    hasMessages &&
      counts("Messages per second", rows, [
        { name: "sent", of: (row) => row.sent, fold: "mean" },
        { name: "received", of: (row) => row.received, fold: "mean" },
      ]),
    hasMessages && times("Message latency", rows, (row) => row.latency),
    hasHttp && counts("HTTP requests per second", rows, [{ name: "answered", of: (row) => row.http, fold: "mean" }]),
    hasHttp && times("HTTP request time", rows, (row) => row.httpTime),
    counts("Errors per second", rows, [{ name: "errors", of: (row) => row.errors, fold: "max" }]),
    times("Connect time", rows, (row) => row.connect),
    times("Send lag of the generator", rows, (row) => row.sendLag),
    processors(rows),
    steal(rows),
    memory(rows),
  ];
  return shown.filter((graph): graph is Graph => graph !== false && graph.curves.length > 0);
}

function counts(title: string, rows: readonly Row[], sources: readonly Source[]): Graph {
  const curves = drawn(rows, sources);
  return { title, curves, scale: linear(greatest(curves)), told: count, tick: shortCount };
}

function times(title: string, rows: readonly Row[], of: (row: Row) => Spread): Graph {
  const percentile = (name: string, pick: (spread: Spread) => number): Source => ({
    name,
    of: (row) => (of(row).count > 0 ? pick(of(row)) : undefined),
    fold: "max",
  });
  const curves = drawn(rows, [
    percentile("p50", (spread) => spread.p50),
    percentile("p95", (spread) => spread.p95),
    percentile("p99", (spread) => spread.p99),
    percentile("max", (spread) => spread.max),
  ]);
  const measured = values(curves).filter((value) => value > 0);
  const scale = logarithmic(Math.min(...measured, 1e9), Math.max(...measured, 0));
  return { title, curves: measured.length > 0 ? curves : [], scale, told: time, tick: shortTime };
}

function processors(rows: readonly Row[]): Graph {
  const curves = drawn(rows, [
    { name: "all threads", of: (row) => row.generatorCpu, fold: "mean" },
    { name: "busiest thread", of: (row) => row.generatorThreadCpuMax, fold: "max" },
  ]);
  return { title: "CPU of the generator, in cores", curves, scale: linear(greatest(curves)), told: cores, tick: shortCount };
}

/** On a machine of one's own there is nothing to show. */
function steal(rows: readonly Row[]): Graph {
  const sources: Source[] = rows.some((row) => row.steal > 0) ? [{ name: "stolen", of: (row) => row.steal, fold: "max" }] : [];
  const curves = drawn(rows, sources);
  return { title: "CPU steal", curves, scale: linear(greatest(curves)), told: share, tick: share };
}

function memory(rows: readonly Row[]): Graph {
  const names = new Set(rows.flatMap((row) => row.servers.flatMap(({ name, rssBytes }) => (rssBytes === undefined ? [] : [name]))));
  const sources = [...names].slice(0, SERVERS_MAX).map((name): Source => {
    return { name, of: (row) => row.servers.find((server) => server.name === name)?.rssBytes, fold: "max" };
  });
  const curves = drawn(rows, sources);
  return { title: "Server memory", curves, scale: binary(greatest(curves)), told: bytes, tick: shortBytes };
}

function drawn(rows: readonly Row[], sources: readonly Source[]): Curve[] {
  let color = 0;
  return sources.map(({ name, of, fold, wanted = false }) => {
    const points = rows.map((row) => ({ second: row.second, value: of(row) }));
    return { name, points: thin(points, POINTS_MAX, fold), color: wanted ? 0 : (color += 1) };
  });
}

function values(curves: readonly Curve[]): number[] {
  return curves.flatMap(({ points }) => points.flatMap(({ value }) => (value === undefined ? [] : [value])));
}

function greatest(curves: readonly Curve[]): number {
  return Math.max(0, ...values(curves));
}

/** The points with nothing measured on either side, through which no line goes. */
export function lonePoints(points: readonly Point[]): { second: number; value: number }[] {
  return points.flatMap(({ second, value }, at) => {
    const hasNeighbour = points[at - 1]?.value !== undefined || points[at + 1]?.value !== undefined;
    return value === undefined || hasNeighbour ? [] : [{ second, value }];
  });
}

/** The last point that is not after a second, as a reader of the graph means it. */
export function pointAt(points: readonly Point[], second: number): Point | undefined {
  return points.findLast((point) => point.second <= second) ?? points[0];
}
