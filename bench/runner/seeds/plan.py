"""Which runs there are, and playing them one after the other within a time."""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from runner import results
from runner.seeds import chat, messenger, road
from runner.cgroup import NoLimit
from runner.seeds.play import Played, Run, play
from runner.seeds.replicas import Absent
from runner.seeds.report import SUBJECT, Kept

SEEDS = (road.SEED, messenger.SEED, chat.SEED)


def plan(seeds: list[str], scale: int, cores: float) -> list[Run]:
    """In the order of the documents."""
    by_seed = {
        road.SEED: lambda: road.runs(scale),
        messenger.SEED: lambda: messenger.runs(scale),
        chat.SEED: lambda: chat.runs(scale, cores),
    }
    return [run for seed in SEEDS if seed in seeds for run in by_seed[seed]()]


# What is left of runs when the program ends before them.
ENDED = "the program ended before this run"

# Hears what there is after a run, with what has not been played yet.
Hear = Callable[[Kept], None]


def play_all(
    runs: list[Run], player: Callable[[Run], Played], seconds: float, hear: Hear = lambda _: None
) -> Kept:
    """Plays what can be expected to end in time; what is left out is named with the reason. What goes wrong with one
    run is noted, and the next one follows."""
    kept, deadline = Kept([], [], [], {}), time.monotonic() + seconds
    for number, run in enumerate(runs, 1):
        if number > 1:
            hear(replace(kept, missing=kept.missing | {left.scenario: ENDED for left in runs[number - 1 :]}))
        if time.monotonic() + run.seconds > deadline:
            kept.missing[run.scenario] = f"no time left of the limit of {seconds / 60:.0f} minutes"
            continue
        _tell(f"{run.scenario} ({number} of {len(runs)}) …")
        try:
            keep(run, player(run), kept)
        except (NoLimit, Absent) as error:
            kept.missing[run.scenario] = str(error)
        except (RuntimeError, TimeoutError) as error:
            kept.faults.append(f"{run.scenario}: {error}")
        except OSError as error:
            # Without the path, which is this machine's.
            kept.faults.append(f"{run.scenario}: {error.strerror or type(error).__name__}")
    return kept


def keep(run: Run, played: Played, kept: Kept) -> None:
    """Adds a run's figures, its verdict and what was wrong with it."""
    said = played.summary["verdict"]
    kept.verdicts.append(results.verdict(run.scenario, said))
    for name, value in run.figures(played).items():
        kept.measurements.append(results.measurement(run.scenario, SUBJECT, name, [value], said["valid"]))
    faults = [f"{run.scenario}: {fault}" for fault in run.faults(played)]
    kept.faults += faults
    for line in [*faults, *([] if said["valid"] else [f"INVALID: {reason}" for reason in said["reasons"]])]:
        _tell(f"  {line}")


def player(throng: Path, stampede: Path) -> Callable[[Run], Played]:
    return lambda run: play(run, throng, stampede)


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
