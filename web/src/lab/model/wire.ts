/**
 * The answers of `/api/status` and `/api/series`, from `unknown` to what the page shows. A field that is not what it
 * should be is 0 or empty, so that a page survives a server of another version.
 */

export type Stage = "starting" | "running" | "draining" | "ended";
export type Stop = "no" | "orderly" | "at_once";

/** Times in microseconds. */
export type Spread = {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
};

export type ServerRow = {
  readonly name: string;
  readonly rssBytes: number | undefined;
};

/** One second of the run. */
export type Row = {
  readonly second: number;
  readonly usersWanted: number;
  readonly users: number;
  readonly connected: number;
  readonly joined: number;
  readonly sent: number;
  readonly received: number;
  readonly http: number;
  readonly connects: number;
  readonly errors: number;
  readonly latency: Spread;
  readonly connect: Spread;
  readonly httpTime: Spread;
  readonly sendLag: Spread;
  readonly generatorCpu: number;
  readonly generatorThreadCpuMax: number;
  readonly steal: number;
  readonly servers: readonly ServerRow[];
};

export type ErrorCount = {
  readonly kind: string;
  readonly outcome: string;
  readonly code: number;
  readonly count: number;
  readonly sources: number;
  readonly firstSecond: number;
  readonly example: string;
};

export type Phase = { readonly number: number; readonly of: number; readonly name: string };

export type RunStatus = {
  readonly scenario: string;
  readonly target: string;
  readonly seed: number;
  readonly stage: Stage;
  readonly phase: Phase | undefined;
  readonly elapsedSeconds: number;
  readonly remainingSeconds: number | undefined;
  readonly progress: number | undefined;
  readonly users: { readonly wanted: number; readonly active: number; readonly connected: number; readonly joined: number };
  readonly latest: Row;
  readonly totals: {
    readonly sent: number;
    readonly received: number;
    readonly expected: number;
    readonly delivered: number;
    readonly lost: number;
    readonly late: number;
    readonly inFlight: number;
    readonly duplicates: number;
    readonly reordered: number;
    readonly errors: number;
    readonly usersFailed: number;
    readonly usersDropped: number;
  };
  readonly latency: Spread;
  readonly errors: readonly ErrorCount[];
  readonly valid: boolean;
  readonly reasons: readonly string[];
  readonly endedBy: string;
  readonly stop: Stop;
  readonly stopNeedsToken: boolean;
};

type Fields = Record<string, unknown>;

export function parseStatus(value: unknown): RunStatus {
  const status = fields(value);
  const [users, totals, verdict] = [fields(status["users"]), fields(status["totals"]), fields(status["verdict"])];
  return {
    scenario: text(status["scenario"]),
    target: text(status["target"]),
    seed: number(status["seed"]),
    stage: oneOf(status["stage"], ["starting", "running", "draining", "ended"]),
    phase: parsePhase(status["phase"]),
    elapsedSeconds: number(status["elapsed_seconds"]),
    remainingSeconds: optional(status["remaining_seconds"]),
    progress: optional(status["progress"]),
    users: {
      wanted: number(users["wanted"]),
      active: number(users["active"]),
      connected: number(users["connected"]),
      joined: number(users["joined"]),
    },
    latest: parseRow(status["latest"]),
    totals: {
      sent: number(totals["sent"]),
      received: number(totals["received"]),
      expected: number(totals["expected"]),
      delivered: number(totals["delivered"]),
      lost: number(totals["lost"]),
      late: number(totals["late"]),
      inFlight: number(totals["in_flight"]),
      duplicates: number(totals["duplicates"]),
      reordered: number(totals["reordered"]),
      errors: number(totals["errors"]),
      usersFailed: number(totals["users_failed"]),
      usersDropped: number(totals["users_dropped"]),
    },
    latency: parseSpread(fields(status["times"])["latency"]),
    errors: list(status["errors"]).map(parseError),
    valid: verdict["valid"] === true,
    reasons: list(verdict["reasons"]).map(text),
    endedBy: text(status["ended_by"]),
    stop: oneOf(status["stop"], ["no", "orderly", "at_once"]),
    stopNeedsToken: status["stop_needs_token"] === true,
  };
}

export function parseRows(value: unknown): Row[] {
  return list(value).map(parseRow);
}

function parseRow(value: unknown): Row {
  const row = fields(value);
  return {
    second: number(row["second"]),
    usersWanted: number(row["users_wanted"]),
    users: number(row["users"]),
    connected: number(row["connected"]),
    joined: number(row["joined"]),
    sent: number(row["sent"]),
    received: number(row["received"]),
    http: number(row["http"]),
    connects: number(row["connects"]),
    errors: number(row["errors"]),
    latency: parseSpread(row["latency"]),
    connect: parseSpread(row["connect"]),
    httpTime: parseSpread(row["http_time"]),
    sendLag: parseSpread(row["send_lag"]),
    generatorCpu: number(row["generator_cpu"]),
    generatorThreadCpuMax: number(row["generator_thread_cpu_max"]),
    steal: number(row["steal"]),
    servers: list(row["servers"]).map((server) => ({
      name: text(fields(server)["name"]),
      rssBytes: optional(fields(server)["rss_bytes"]),
    })),
  };
}

function parseSpread(value: unknown): Spread {
  const spread = fields(value);
  return {
    count: number(spread["count"]),
    p50: number(spread["p50_us"]),
    p95: number(spread["p95_us"]),
    p99: number(spread["p99_us"]),
    max: number(spread["max_us"]),
  };
}

function parseError(value: unknown): ErrorCount {
  const error = fields(value);
  return {
    kind: text(error["kind"]),
    outcome: text(error["outcome"]),
    code: number(error["code"]),
    count: number(error["count"]),
    sources: Object.keys(fields(error["sources"])).length,
    firstSecond: number(error["first_second"]),
    example: text(error["example"]),
  };
}

function parsePhase(value: unknown): Phase | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const phase = fields(value);
  return { number: number(phase["number"]), of: number(phase["of"]), name: text(phase["name"]) };
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function optional(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function number(value: unknown): number {
  return optional(value) ?? 0;
}

function oneOf<T extends string>(value: unknown, known: readonly [T, ...T[]]): T {
  return known.find((one) => one === value) ?? known[0];
}
