"""The road to 2 million connections: so many clients join one room and stay, from 1,000 to 2,000,000; one of them says
something to all; at the end of the road 60,000 crash and who is left hears once more."""

from functools import partial

from runner.seeds.play import Played, Run, Stage, scenario, scrape_figures, wrong
from runner.servers import Running
from runner.watch import Row

SEED = "road"

# Where the original stood still for a while, or said how far it had come.
STEPS = (1_000, 27_000, 50_000, 100_000, 330_000, 450_000, 1_000_000, 1_300_000, 2_000_000)
# Those of the small form.
FEW = (100_000, 2_000_000)
CRASH = 60_000

SOURCES = "127.1.0.0/24"

SMALL_RATE = 4_000

SETTLE_S = 3
DRAIN_S = 5
# To the last of a room, both ends on a slow machine with two cores: what a message may take, and its least.
HEAR_US_PER_CLIENT = 40
HEAR_S_MIN = 1


def name_of(step: int) -> str:
    """The scenario's name in results; of a small form it is that of the step which it stands for."""
    return f"{SEED}, {step:,} clients"


def rate_of(step: int, scale: int) -> int:
    """Clients a second: the original's first rate, its last one, and less where this machine has no more to give."""
    rate = 1_000 if step <= 1_000 else 10_000 if step < 1_000_000 else 8_000
    return rate if scale == 1 else min(rate, SMALL_RATE)


def runs(scale: int) -> list[Run]:
    return [_run(step, scale) for step in (STEPS if scale < 100 else FEW)]


def _run(step: int, scale: int) -> Run:
    everybody = max(step // scale, 10)
    crash = CRASH // scale if step == STEPS[-1] else 0
    rate = rate_of(step, scale)
    settle, drain = (SETTLE_S, DRAIN_S) if scale == 1 else (1, 1)
    hear = HEAR_S_MIN + everybody * HEAR_US_PER_CLIENT // 1_000_000
    variables = {
        "rate": f"{rate}/s",
        "clients": everybody - 1,
        "everybody": everybody,
        "crash": crash,
        "the_crash": crash + 1,
        "settle": f"{settle}s",
        "hear": f"{hear}s",
        "drain": f"{drain}s",
    }

    def arguments(server: Running) -> list:
        return scenario("road-to-2-million", server, variables, "--source", SOURCES)

    return Run(
        seed=SEED,
        scenario=name_of(step),
        arguments=arguments,
        stage=Stage(everybody),
        seconds=everybody / rate + (2 if crash else 1) * (settle + hear) + 10,
        figures=partial(figures, everybody, crash),
        faults=partial(faults, everybody, crash),
    )


def figures(everybody: int, crash: int, played: Played) -> dict[str, float]:
    """Memory is all of it, not a slope; that of the machine is what server, generator and kernel took together."""
    empty, here = played.rows[0], _joined(played.rows, everybody)
    last = played.summary["fan_out"]["last_receiver"]
    found = {
        "joined_at_once": here.joined,
        "join_seconds": max(here.at_s - _first_to_come(played.rows).at_s, 0.0),
        "server_rss_bytes": here.server_rss_bytes,
        "server_rss_bytes_per_client": here.server_rss_bytes / everybody,
        "machine_bytes_per_client": (empty.available_bytes - here.available_bytes) / everybody,
        "connect_ms_p50": played.time("connect")["p50_us"] / 1000,
        "connect_ms_p99": played.time("connect")["p99_us"] / 1000,
        "join_ms_p50": played.time("join")["p50_us"] / 1000,
        "join_ms_p99": played.time("join")["p99_us"] / 1000,
        "deliveries": played.counts["delivered"],
        "last_receiver_s_max": last["max_us"] / 1e6,
        **scrape_figures(played),
    }
    if crash:
        found |= {"crashed": crash, "crash_cleaned_up_s": _cleaned_up_s(played.rows, everybody, crash)}
    return found


def faults(everybody: int, crash: int, played: Played) -> list[str]:
    """Counts: everybody joined, and everybody who was there heard."""
    most = max(row.joined for row in played.rows)
    found = [] if most >= everybody else [f"{most:,.0f} of {everybody:,} clients joined at the same time"]
    heard = everybody + (everybody - crash if crash else 0)
    if played.counts["delivered"] != heard:
        found.append(f"{played.counts['delivered']:,} of {heard:,} deliveries")
    return found + wrong(played, "users_failed", "errors", "lost", "late")


def _first_to_come(rows: list[Row]) -> Row:
    """The last look before anybody was there."""
    nobody = [row for row in rows if not row.connections]
    return next((row for row in reversed(nobody) if row.at_s < _most(rows).at_s), rows[0])


def _joined(rows: list[Row], everybody: int) -> Row:
    return next((row for row in rows if row.joined >= everybody), _most(rows))


def _most(rows: list[Row]) -> Row:
    return max(rows, key=lambda row: row.joined)


def _cleaned_up_s(rows: list[Row], everybody: int, crash: int) -> float:
    """From the last look at all of them to the first at which the server had forgotten those that crashed: half a
    second more at most than it took."""
    whole = [index for index, row in enumerate(rows) if row.connections >= everybody]
    after = rows[whole[-1] :] if whole else []
    clean = next((row for row in after if row.connections <= everybody - crash), None)
    return clean.at_s - after[0].at_s if clean else 0.0
