"""What a record comes to: figures, targets and the page that tells of them."""

from dataclasses import asdict, dataclass

from runner import record_joins, record_memory, talk
from runner.record import Plan, Record
from runner.watch import Row

SCRAPE_MS_MAX = 250
# What must not occur in any run.
WRONG = ("users_failed", "lost", "late", "duplicates", "unexpected")
CROWD, PAIR, FURTHER = "the crowd", "the two who talk", "the further clients"


@dataclass(frozen=True)
class Judged:
    """A figure beside its bound."""

    name: str
    value: float | None
    unit: str
    bound: float
    at_most: bool = True

    @property
    def holds(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def row(self) -> str:
        sign = "≤" if self.at_most else "≥"
        value = "" if self.value is None else f"{number(self.value)} {self.unit}".strip()
        verdict = "not measured" if self.value is None else "reached" if self.holds else "**missed**"
        return f"| {self.name} | {value} | {sign} {number(self.bound)} {self.unit} | {verdict} |"


def figures(plan: Plan, record: Record) -> dict:
    """What Throng and Stampede did, in numbers."""
    rows, moments, counts = record.rows, record.moments, record.summary["counts"]
    here = [row for row in rows if row.at_s <= moments["joined"]]
    scrapes = _scrapes(plan, record)
    held = [ms for when, times in scrapes.items() if when != "leaving" for ms in times]
    joined = here[-1]
    empty = rows[0]
    last = record.summary["fan_out"]["last_receiver"]
    lag = record.summary["times"]["begin_lag"]
    return {
        "joined_at_once": int(joined.joined),
        "most_at_once": record.most,
        "growth_ended_by": record.stopped_by,
        "users_failed": counts["users_failed"],
        "errors": counts["errors"],
        "duplicates": counts["duplicates"],
        "unexpected": counts["unexpected"],
        "deliveries_expected": counts["expected"],
        "delivered": counts["delivered"],
        "lost": counts["lost"],
        "late": counts["late"],
        "join_seconds": moments["joined"] - moments["begin"],
        "joins_per_second": joined.joined / (moments["joined"] - moments["begin"]),
        "generator_begin_lag_ms": {part: lag[f"{part}_us"] / 1000 for part in ("p50", "p99")},
        "server_rss_bytes": joined.server_rss_bytes,
        "server_rss_bytes_per_client": joined.server_rss_bytes / plan.crowd,
        "generator_rss_bytes": joined.generator_rss_bytes,
        "generator_rss_bytes_per_client": joined.generator_rss_bytes / plan.crowd,
        **record_memory.of_server(record.page, plan.crowd),
        **record_memory.of_generator(record.summary, plan.crowd),
        "kernel_slab_bytes_per_pair": (joined.kernel_slab_bytes - empty.kernel_slab_bytes) / plan.crowd,
        "available_bytes_before": empty.available_bytes,
        "available_bytes_joined": joined.available_bytes,
        "last_receiver_s": {part: last[f"{part}_us"] / 1e6 for part in ("min", "mean", "max")},
        "server_cpu_us_per_delivery": [_cpu_us(*pair) for pair in record.broadcasts],
        "scrapes": len(rows),
        "scrapes_failed": len(record.failed_scrapes),
        "generator_scrapes_failed": record.summary["generator"]["samples_failed"],
        "scrape_ms_max": max(held, default=0),
        **{f"scrape_ms_max_{when}": max(times, default=0) for when, times in scrapes.items()},
        "scrapes_too_long": {when: sum(ms > SCRAPE_MS_MAX for ms in times) for when, times in scrapes.items()},
        "cut_cleaned_up_s": moments["clean"] - moments["cut"],
        "storm_s": moments["back"] - moments["storm"],
        "wrong_of_pair": _wrong(record.pair_summary),
        "wrong_of_further_clients": _wrong(record.more_summary) if record.more_summary else {},
        "seconds": rows[-1].at_s - rows[0].at_s,
        "verdicts": {name: run["verdict"] for name, run in _runs(record).items()},
        "pair": {name: _latency(record, windows) for name, windows in windows_of(record).items()},
    }


def _runs(record: Record) -> dict[str, dict]:
    runs = {CROWD: record.summary, PAIR: record.pair_summary}
    return runs | ({FURTHER: record.more_summary} if record.more_summary else {})


def _wrong(summary: dict) -> dict[str, int]:
    """What must not occur in a run beside the crowd's."""
    return {name: summary["counts"][name] for name in (*WRONG, "errors")}


def _scrapes(plan: Plan, record: Record) -> dict[str, list[float]]:
    """How long each scrape took, by what was going on."""
    moments = record.moments
    scrapes: dict[str, list[float]] = {"coming": [], "here": [], "filling": [], "leaving": []}
    for row in record.rows:
        # Those beyond the crowd leave again while it stays.
        is_held = row.at_s <= moments["most"] or row.joined >= plan.crowd
        if row.at_s <= moments["joined"]:
            when = "coming"
        elif row.at_s <= moments["quiet"]:
            when = "here"
        # Further clients come until the machine's memory is used up.
        else:
            when = "filling" if is_held else "leaving"
        scrapes[when].append(row.scrape_ms)
    return scrapes


def windows_of(record: Record) -> dict[str, list[tuple[float, float]]]:
    """When what happened, for the latency of the two who talk."""
    moments = record.moments
    broadcasts = [(before.at_s, after.at_s) for before, after in record.broadcasts]
    return {
        "while all are quiet": [(moments["back"] + 1, moments["quiet"]), *_calms(broadcasts)],
        "while a broadcast runs": broadcasts,
        "while the cut are cleaned up": [(moments["cut"] - 1, moments["clean"] + 1)],
        "while they come back": [(moments["storm"] - 1, moments["back"])],
    }


def _calms(broadcasts: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Between the broadcasts, two seconds after each."""
    return [(end + 2, begin) for (_, end), (begin, _) in zip(broadcasts, broadcasts[1:]) if begin > end + 2]


def _latency(record: Record, windows: list[tuple[float, float]]) -> dict | None:
    latency = talk.within(record.pair, windows)
    return asdict(latency) if latency else None


def _cpu_us(before: Row, after: Row) -> float:
    return (after.server_cpu_s - before.server_cpu_s) * 1e6 / (after.messages_out - before.messages_out)


def judge(plan: Plan, found: dict, joins: list[dict], floor: dict | None, bare: dict | None) -> list[Judged]:
    """The targets of a record."""
    pair = {name: (latency or {}).get("p99_ms") for name, latency in found["pair"].items()}
    longest = {name: (latency or {}).get("max_ms") for name, latency in found["pair"].items()}
    valid = sum(found["verdicts"][name]["valid"] for name in (CROWD, PAIR))
    flat = {part: record_joins.rise(joins, part) for part in ("join_p50_ms", "join_p99_ms")}
    judged = [
        Judged("VALID runs, of the crowd's and the pair's", valid, "", 2, at_most=False),
        Judged("clients joined at the same time", found["joined_at_once"], "", plan.crowd, at_most=False),
        Judged("failed users", found["users_failed"], "", 0),
        Judged("lost or late deliveries", found["lost"] + found["late"], "", 0),
        Judged("join time at the end, relative to the beginning", flat["join_p50_ms"], "×", record_joins.RISE_MAX),
        Judged("the same, 99 %", flat["join_p99_ms"], "×", record_joins.RISE_MAX),
        Judged("server memory per client", found["server_rss_bytes_per_client"], "bytes", 256),
        Judged("Stampede memory per client", found["generator_rss_bytes_per_client"], "bytes", 400),
        Judged("error of the kernel's part in the server's metrics", record_memory.kernel_error_percent(found), "%", 10),
        Judged("longest scrape while the clients are connected", found["scrape_ms_max"], "ms", SCRAPE_MS_MAX),
        Judged("scrapes that took longer, while the clients are connected", _too_long(found), "", 0),
        Judged("failed scrapes", found["scrapes_failed"], "", 0),
        Judged("failed scrapes of Stampede's own", found["generator_scrapes_failed"], "", 0),
        Judged("latency p99 of the pair, without other traffic", pair["while all are quiet"], "ms", 50),
        Judged("latency p99 of the pair, during a broadcast", pair["while a broadcast runs"], "ms", 250),
        Judged("maximum latency of the pair, while disconnects are processed", longest["while the cut are cleaned up"], "ms", 100),
    ]
    ratio = lambda name: bare[name] / floor[name] if floor and bare else None  # noqa: E731
    return [
        *judged,
        Judged("time to the last receiver", ratio("last_receiver_ms_median"), "× floor", 1.10),
        Judged("server CPU per delivery", ratio("server_cpu_us_per_delivery"), "× floor", 1.05),
        Judged("connect and join rate", ratio("connections_per_second"), "× floor", 0.75, at_most=False),
    ]


def _too_long(found: dict) -> int:
    return sum(count for when, count in found["scrapes_too_long"].items() if when != "leaving")


def render(plan: Plan, data: dict, judged: list[Judged]) -> str:
    """The page."""
    found = data["record"]
    lines = [f"# {plan.crowd:,} clients in one room", "", data["date"], "", f"- command: `{data['command']}`"]
    lines += [f"- {name}: {value}" for name, value in data["machine"].items()]
    lines += [f"- kernel setting {name}: {before} → {during}" for name, (before, during) in data["settings"].items()]
    lines += [] if data["settings"] else ["- kernel settings: unchanged"]
    lines += ["", "## Targets", "", "| figure | measured | target | result |", "|---|---|---|---|", *(j.row() for j in judged)]
    lines += ["", "## Stampede's verdict", ""]
    for name, verdict in found["verdicts"].items():
        lines += [f"- {name}: {'VALID' if verdict['valid'] else '**INVALID**'}"]
        lines += [f"  - {reason}" for reason in verdict["reasons"]]
    lines += ["", "## All clients, with Stampede", "", "| | |", "|---|---|"]
    shown = {name: value for name, value in found.items() if name not in ("pair", "verdicts", *record_memory.TITLES)}
    lines += [f"| {name.replace('_', ' ')} | {_cell(value)} |" for name, value in shown.items()]
    lines += record_memory.lines(found)
    told = "Latency from the intended send time; each says 20 messages per second to the other."
    lines += ["", "## The talking pair", "", told, ""]
    lines += ["| when | messages | p50 | p99 | maximum |", "|---|---|---|---|---|"]
    for name, latency in found["pair"].items():
        parts = (f"{latency[part]:.2f} ms" for part in ("p50_ms", "p99_ms", "max_ms")) if latency else ("",) * 3
        lines.append(f"| {name} | {latency['count'] if latency else 0} | {' | '.join(parts)} |")
    lines += record_joins.lines(data["joins"])
    if data["floor"]:
        lines += ["", "## Compared with the floor", "", _client(plan), ""]
        lines += ["| | floor | Throng |", "|---|---|---|"]
        names = ("connections_per_second", "server_cpu_us_per_connection", "last_receiver_ms_median")
        for name in (*names, "server_cpu_us_per_delivery", "lost"):
            lines.append(f"| {name.replace('_', ' ')} | {number(data['floor'][name])} | {number(data['bare'][name])} |")
    return "\n".join(lines) + "\n"


def _client(plan: Plan) -> str:
    return (
        "Both with the same minimal client, which connects as fast as the server accepts. Its threads read "
        f"every {plan.read_every_ms} ms: nobody is woken for a message."
    )


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def _cell(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(number(part) for part in value)
    return value if isinstance(value, str) else number(value)


def faults(plan: Plan, data: dict) -> list[str]:
    """What is wrong with the counts, whatever the times."""
    found = data["record"]
    wrong = [f"{found[name]} {name.replace('_', ' ')}" for name in (*WRONG, "scrapes_failed") if found[name]]
    for run, counts in ((PAIR, found["wrong_of_pair"]), (FURTHER, found["wrong_of_further_clients"])):
        wrong += [f"{run}: {count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    if found["joined_at_once"] < plan.crowd:
        wrong.append(f"{found['joined_at_once']:,} of {plan.crowd:,} clients joined at the same time")
    if found["delivered"] < plan.broadcasts * plan.crowd:
        wrong.append(f"{found['delivered']:,} of {plan.broadcasts * plan.crowd:,} deliveries")
    wrong += record_joins.faults(plan.crowd, data["joins"])
    for name in ("floor", "bare"):
        run = data[name]
        if run and (run["lost"] or run["extra"] or run["opened"]["open"] < plan.crowd):
            wrong.append(f"{name}: {run['opened']['open']:,} open, {run['lost']} lost, {run['extra']} extra")
    return wrong
