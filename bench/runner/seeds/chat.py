"""Scaling a basic chat: rooms of some clients, each of whom says 64 bytes a second to all of its room. First one room
that grows, then many; then many through two replicas; without and with a limit on the server's processor time."""

from dataclasses import replace
from functools import partial

from runner.seeds.play import Played, Run, Stage, cpu_percent, scenario, scrape_figures, wrong
from runner.seeds.replicas import Replicas
from runner.servers import Running
from runner.watch import Row

SEED = "chat"

# Rooms and clients in each: the first test, then the three parts of the second one.
FIRST_TEST = tuple((1, clients) for clients in range(10, 120, 10))
SECOND_TEST = (
    *((25, clients) for clients in range(2, 18, 2)),
    *((50, 8), (50, 12), (75, 8)),
    *((rooms, 4) for rooms in (100, 150, 175, 200)),
)
CONFIGURATIONS = (*FIRST_TEST, *SECOND_TEST)
# With two replicas.
THIRD_TEST = tuple((rooms, 4) for rooms in (150, 175, 200, 250))
# The original's runs took a minute and more. Without the limit a message takes a millisecond whatever the length; with it,
# a queue that grows is to be told from one that stays.
TALK_S = 6
TALK_LIMITED_S = 20
DRAIN_S = 2

LATENCY_PARTS = ("p50", "p90", "p95", "p99", "mean", "stddev")

# How such runs are called.
LIMITED = ", limited"
REPLICAS = ", two replicas"


def name_of(rooms: int, clients: int) -> str:
    return f"{SEED}, {rooms} × {clients}"


def runs(scale: int, cores: float) -> list[Run]:
    """Each configuration without the limit and with it; the small form has the largest one of one server and of two
    replicas, these without the limit: so little processor time does not carry two that are not optimised."""
    one = _runs(CONFIGURATIONS, scale)
    two = [_with_replicas(run) for run in _runs(THIRD_TEST, scale)]
    judged = partial(faults_at_limit, scale > 1)
    slowed = _runs(CONFIGURATIONS, scale, TALK_LIMITED_S)
    if scale == 1:
        slowed += [_with_replicas(run) for run in _runs(THIRD_TEST, scale, TALK_LIMITED_S)]
    limited = [replace(run, scenario=run.scenario + LIMITED, cores=cores, faults=judged) for run in slowed]
    return [*one, *two, *limited]


def _with_replicas(run: Run) -> Run:
    return replace(run, scenario=run.scenario + REPLICAS, replicas=True)


def _runs(configurations: tuple[tuple[int, int], ...], scale: int, talk_s: int = TALK_S) -> list[Run]:
    chosen = configurations if scale < 100 else configurations[-1:]
    small = {(max(rooms // scale, 1), max(clients // scale, 2)): (rooms, clients) for rooms, clients in chosen}
    talk_s = talk_s if scale == 1 else 2
    return [_run(*size, *named, talk_s) for size, named in small.items()]


def _run(rooms: int, clients: int, rooms_named: int, clients_named: int, talk_s: int) -> Run:
    def arguments(server: Running | Replicas) -> list:
        variables = {"rooms": rooms, "users": rooms * clients, "talk": f"{talk_s}s", "drain": f"{DRAIN_S}s"}
        return scenario("basic-chat", server, variables)

    return Run(
        seed=SEED,
        scenario=name_of(rooms_named, clients_named),
        arguments=arguments,
        stage=Stage(rooms * clients),
        seconds=talk_s + DRAIN_S + 4,
        figures=figures,
        faults=faults,
    )


def figures(played: Played) -> dict[str, float]:
    """Latency from when a message ought to have been sent. Sent against received is the original's: deliveries that
    were expected, and those that came in time."""
    latency, counts = played.time("latency"), played.counts
    found = {f"latency_ms_{part}": latency[f"{part}_us"] / 1000 for part in LATENCY_PARTS}
    found |= {name: counts[name] for name in ("sent", "expected", "delivered", "lost", "late")}
    found["server_cpu_percent_mean"] = cpu_percent(_talk(played.rows))
    if played.throttling:
        found["throttled_percent"] = played.throttling.percent
    return found | scrape_figures(played)


def faults(played: Played) -> list[str]:
    found = [] if played.counts["delivered"] else ["no messages were received"]
    return found + wrong(played, "users_failed", "errors", "lost", "late")


def faults_at_limit(small: bool, played: Played) -> list[str]:
    """At its limit a server may be late, and then that is the figure; but it says how it is whenever it is asked."""
    return faults(played) if small else wrong(played)


def _talk(rows: list[Row]) -> list[Row]:
    """The looks between which messages went out."""
    said = [index for index, (row, after) in enumerate(zip(rows, rows[1:])) if after.messages_out > row.messages_out]
    return rows[said[0] : said[-1] + 2] if said else rows
