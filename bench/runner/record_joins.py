"""How long joins take as a record's crowd grows, and whether that is flat.

Server and clients share a machine, so a join's time is the generator's as much as the server's. Its own delay before connects
and joins is told for the whole run (`generator_begin_lag_ms`), and what connecting took in the same seconds, which knows of
no room, stands beside the joins."""

import statistics
from collections.abc import Iterable

STEP = 100_000
# Steps at each end that are compared.
ENDS = 10
# Times below it are taken for it: a few wakes of a thread more or less are a multiple of them.
RESOLUTION_MS = 0.1
# Where a join takes as long as the room is large, the last steps take 2.8 times as long as the first, in the middle.
RISE_MAX = 2.0


def by_step(crowd: int, series: Iterable[dict]) -> list[dict]:
    """Join latency before the storm: of each step of so many joined, from the seconds in which they came. Of a step's
    seconds, the median is the middle one; of their p99, the middle one and the greatest are told."""
    size = max(STEP * crowd // 2_000_000, 1)
    steps: dict[int, list[dict]] = {}
    for second in series:
        joined = int(float(second["joined"]))
        if second["join_p50_us"] and joined:
            steps.setdefault((joined - 1) // size, []).append(second)
        if joined >= crowd:
            break
    return [
        {
            "joined": (step + 1) * size,
            "timed": sum(int(second["join_count"]) for second in seconds),
            "join_p50_ms": _middle_ms(seconds, "join_p50_us"),
            "join_p99_ms": _middle_ms(seconds, "join_p99_us"),
            "join_p99_ms_max": max(float(second["join_p99_us"]) for second in seconds) / 1000,
            "connect_p50_ms": _middle_ms(seconds, "connect_p50_us"),
        }
        for step, seconds in sorted(steps.items())
    ]


def _middle_ms(seconds: list[dict], name: str) -> float | None:
    values = sorted(float(second[name]) for second in seconds if second[name])
    return values[len(values) // 2] / 1000 if values else None


def rise(steps: list[dict], part: str) -> float | None:
    """How many times as long the middle one of the last steps takes as that of the first, by `join_p50_ms` or
    `join_p99_ms`; nothing, if there are too few steps. Medians of medians: a step in which something else had the
    processor moves neither."""
    if len(steps) < 2 * ENDS:
        return None
    middle = [statistics.median(step[part] for step in end) for end in (steps[:ENDS], steps[-ENDS:])]
    first, last = (max(value, RESOLUTION_MS) for value in middle)
    return last / first


def faults(crowd: int, steps: list[dict]) -> list[str]:
    """Whoever joined has been timed, whatever the times."""
    timed = sum(step["timed"] for step in steps)
    return [] if timed >= crowd else [f"the steps contain only {timed:,} of {crowd:,} joins"]


def lines(steps: list[dict]) -> list[str]:
    """The page's part of it."""
    said = ["", "## Join times as the number of clients grows", ""]
    said += ["Server and clients share the machine. The connect times in the same seconds do not depend on the room.", ""]
    said += ["| joined | p50 | p99 | p99 of the worst second | connect, p50 |", "|---|---|---|---|---|"]
    for step in steps:
        connecting = "" if step["connect_p50_ms"] is None else f"{step['connect_p50_ms']:.2f} ms"
        times = " | ".join(f"{step[part]:.2f} ms" for part in ("join_p50_ms", "join_p99_ms", "join_p99_ms_max"))
        said.append(f"| {step['joined']:,} | {times} | {connecting} |")
    return said
