"""One run of Stampede against a Throng of its own, or two of them, watched from outside, and what is left of it."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner import cgroup, stampede
from runner.seeds.replicas import Replicas, replicas
from runner.servers import Running, Throng
from runner.watch import Row, Watch

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios" / "seeds"

# Beyond what a run is expected to take: on a busy machine, or with a server that does not keep up.
PATIENCE_S = 240
# For Stampede to write what it has, once it was told to end.
END_PATIENCE_S = 60


@dataclass(frozen=True)
class Stage:
    """What the server is to be ready for."""

    connections: int
    single_shard: bool = False


@dataclass(frozen=True)
class Played:
    """What Stampede says and what was seen of the machine."""

    summary: dict
    rows: list[Row]
    failed_scrapes: list[str]
    throttling: cgroup.Throttling | None = None

    @property
    def counts(self) -> dict:
        return self.summary["counts"]

    def time(self, name: str) -> dict:
        return self.summary["times"][name]


@dataclass(frozen=True)
class Run:
    """Something to play: how, against what, what is taken of it, and what must not be wrong with it."""

    # Which of the documents it is from, and which of its tests.
    seed: str
    scenario: str
    arguments: Callable[[Running | Replicas], list]
    stage: Stage
    seconds: float
    figures: Callable[[Played], dict[str, float]]
    faults: Callable[[Played], list[str]]
    # Processor time of the server, if it is limited; of both replicas together.
    cores: float | None = None
    settings: dict[str, str] = field(default_factory=dict)
    # Through two of them, which have their own settings, in place of one server.
    replicas: bool = False


class TooLong(RuntimeError):
    """A run that did not end in time."""


def play(run: Run, throng: Path, binary: Path) -> Played:
    """Plays a run to its end."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="seeds-")))
        group = stack.enter_context(cgroup.limited(run.cores, f"throng-seeds-{os.getpid()}"))
        target, servers = stack.enter_context(_servers(run, throng))
        watch = stack.enter_context(Watch(servers))
        for server in servers if group else ():
            group.add(server.pid)
        # What it is before anybody comes.
        watch.until("the server's first figures", lambda _: True, PATIENCE_S)
        command = [binary, *run.arguments(target), "--event-log", "none", "--out", folder]
        with stampede.started(command, folder, END_PATIENCE_S) as process:
            watch.generators.append(process.pid)
            try:
                process.wait(run.seconds + PATIENCE_S)
            except subprocess.TimeoutExpired:
                raise TooLong(f"did not end within {run.seconds + PATIENCE_S:.0f} s") from None
        throttling = group.throttling() if group else None
        summary = stampede.summary(stampede.only_run(folder))
    return Played(summary, watch.rows, watch.failed_scrapes, throttling)


@contextlib.contextmanager
def _servers(run: Run, throng: Path) -> Iterator[tuple[Running | Replicas, list[Running]]]:
    """What clients are to come to, and the servers that answer there."""
    if run.replicas:
        with replicas(throng, run.stage) as both:
            yield both, both.nodes
    else:
        with Throng(throng, run.settings).start(run.stage) as server:
            yield server, [server]


def scenario(name: str, server: Running | Replicas, variables: dict, *flags, scheme: str = "ws") -> list:
    """The command line that plays a scenario of the seeds."""
    values = {"target": f"{scheme}://{server.address}"} | variables
    settings = (part for key, value in values.items() for part in ("--set", f"{key}={value}"))
    return ["run", SCENARIOS / f"{name}.yaml", *flags, *settings]


def scrape_figures(played: Played) -> dict[str, float]:
    """How the server answered to those who asked for its metrics, twice a second."""
    return {
        "scrapes": len(played.rows),
        "scrapes_failed": len(played.failed_scrapes),
        "scrape_ms_max": max(row.scrape_ms for row in played.rows),
    }


def wrong(played: Played, *names: str) -> list[str]:
    """Counts that ought to be nought and are not, and scrapes that failed."""
    found = [f"{played.counts[name]:,} {name.replace('_', ' ')}" for name in names if played.counts[name]]
    return found + [f"a scrape failed: {why}" for why in played.failed_scrapes]


def cpu_percent(rows: list[Row]) -> float:
    """Of one core, the mean of the server, or of both, from the first to the last of the rows."""
    seconds = rows[-1].at_s - rows[0].at_s if len(rows) > 1 else 0.0
    return 100 * (rows[-1].server_cpu_s - rows[0].server_cpu_s) / seconds if seconds else 0.0
