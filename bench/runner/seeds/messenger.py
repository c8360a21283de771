"""AVChat's instant messenger: ten thousand who come a hundred a second and talk at random, with WebSockets and as
waiting HTTP requests, and the Siege runs against the server of its files."""

from functools import partial

from runner.seeds.play import Played, Run, Stage, cpu_percent, scenario, scrape_figures, wrong
from runner.servers import Running
from runner.watch import Row

SEED = "messenger"

USERS = 10_000
USERS_PER_SECOND = 100
TALK_S = 60
DRAIN_S = 5

# 10,000 and 20,000 members an hour who stay for 20 minutes.
VISITORS = (3_333, 6_666)
SIEGE_S = 30
# A visitor holds one connection; its session outlives it for a while.
SESSIONS_PER_VISITOR = 20

# Looks of half a second; the mean over so many is called a peak.
PEAK_ROWS = 10


def runs(scale: int) -> list[Run]:
    small = scale > 1
    users = max(USERS // scale, 10)
    talk_s, drain_s = (3, 1) if small else (TALK_S, DRAIN_S)
    variables = {
        "users": users,
        "conversations": users // 2,
        "rate": f"{USERS_PER_SECOND}/s",
        "duration": f"{users // USERS_PER_SECOND + talk_s}s",
        "drain": f"{drain_s}s",
    }
    seconds = users / USERS_PER_SECOND + talk_s + 10
    websocket = variables | {"silence": "2s" if small else "60s"}
    # A waiting request and one that says something, and time for what has ended.
    http = {"THRONG_LIMITS_HTTP_CONNECTIONS": str(2 * users + 1000)}
    return [
        Run(
            seed=SEED,
            scenario=f"{SEED}, {USERS:,} with WebSockets",
            arguments=lambda server: scenario("messenger-websocket", server, websocket),
            stage=Stage(users),
            seconds=seconds,
            figures=partial(crowd_figures, users),
            faults=partial(crowd_faults, users),
        ),
        Run(
            seed=SEED,
            scenario=f"{SEED}, {USERS:,} waiting HTTP requests",
            arguments=lambda server: scenario("messenger-http", server, variables, scheme="http"),
            stage=Stage(users),
            seconds=seconds,
            figures=partial(crowd_figures, users),
            faults=partial(crowd_faults, users),
            settings=http,
        ),
        *(_siege(visitors, scale) for visitors in VISITORS),
    ]


def _siege(visitors: int, scale: int) -> Run:
    users, seconds = max(visitors // scale, 10), SIEGE_S if scale == 1 else 3
    small = {"over": "1s", "drain": "1s", "delay": "0s..100ms"} if scale > 1 else {}
    variables = {"users": users, "duration": f"{seconds}s"} | small

    def arguments(server: Running) -> list:
        return scenario("siege", server, variables, scheme="http")

    return Run(
        seed=SEED,
        scenario=f"{SEED}, siege of {visitors:,}",
        arguments=arguments,
        stage=Stage(1000),
        seconds=seconds + 10,
        figures=siege_figures,
        faults=siege_faults,
        settings={
            "THRONG_LIMITS_HTTP_CONNECTIONS": str(2 * users + 1000),
            "THRONG_LIMITS_LONGPOLL_SESSIONS": str(SESSIONS_PER_VISITOR * users + 1000),
        },
    )


def crowd_figures(users: int, played: Played) -> dict[str, float]:
    """Bytes each as the original took them: what the server grew by, by the number of users."""
    empty, talk = played.rows[0], _talk(played.rows, users)
    counts = played.counts
    found = {
        "users_at_once": max(row.joined for row in played.rows),
        "server_rss_bytes_empty": empty.server_rss_bytes,
        "server_rss_bytes": talk[-1].server_rss_bytes,
        "rss_bytes_per_user": (talk[-1].server_rss_bytes - empty.server_rss_bytes) / users,
        "server_cpu_percent_mean": cpu_percent(talk),
        "server_cpu_percent_peak": peak_percent(played.rows),
        "messages_said": counts["sent"] or _labelled(played, "saying"),
        "errors": counts["errors"],
        **scrape_figures(played),
    }
    if played.time("latency")["count"]:
        found |= {f"latency_ms_{part}": played.time("latency")[f"{part}_us"] / 1000 for part in ("p50", "p99", "max")}
    return found


def crowd_faults(users: int, played: Played) -> list[str]:
    most = max(row.joined for row in played.rows)
    found = [] if most >= users else [f"{most:,.0f} of {users:,} were connected at the same time"]
    said = played.counts["sent"] or _labelled(played, "saying")
    found += [] if said else ["no messages were sent"]
    return found + wrong(played, "users_failed", "errors", "http_failed", "lost", "late")


def siege_figures(played: Played) -> dict[str, float]:
    """The lines of Siege's report. Concurrency is what Siege calls so: requests under way, in the mean."""
    counts, answered = played.counts, played.time("http")
    seconds, tried = played.summary["seconds"], counts["http"] + counts["http_failed"]
    rate = counts["http"] / seconds
    busy = [row for row in played.rows if row.generator_cpu_s]
    return {
        "transactions": counts["http"],
        "availability_percent": 100 * counts["http"] / tried if tried else 0.0,
        "elapsed_s": seconds,
        "transferred_bytes": counts["http_bytes"],
        "response_ms_mean": answered["mean_us"] / 1000,
        "response_ms_p99": answered["p99_us"] / 1000,
        "response_ms_max": answered["max_us"] / 1000,
        "transactions_per_second": rate,
        "requests_under_way": rate * answered["mean_us"] / 1e6,
        "failed": counts["http_failed"],
        "server_rss_bytes": max(row.server_rss_bytes for row in played.rows),
        "server_cpu_percent_mean": cpu_percent(busy),
        **scrape_figures(played),
    }


def siege_faults(played: Played) -> list[str]:
    found = [] if played.counts["http"] else ["no requests were answered"]
    return found + wrong(played, "users_failed", "errors", "http_failed")


def peak_percent(rows: list[Row]) -> float:
    """Of one core, the greatest mean of some seconds."""
    spans = [rows[index : index + PEAK_ROWS] for index in range(max(len(rows) - PEAK_ROWS + 1, 1))]
    return max(map(cpu_percent, spans))


def _talk(rows: list[Row], users: int) -> list[Row]:
    """The looks at which all were there; the fullest one if they never were."""
    return [row for row in rows if row.joined >= users] or [max(rows, key=lambda row: row.joined)]


def _labelled(played: Played, label: str) -> int:
    """How often the steps of a label succeeded."""
    return sum(one["spread"]["count"] for one in played.summary["times"]["labelled"] if one["label"] == label)
