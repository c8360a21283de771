"""A scenario that Stampede plays while somebody looks at the servers."""

import contextlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner import processes, results, stampede

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
# One source address has some 28,000 ports for one server.
SOURCES = "127.1.0.1-127.1.0.16"

# For anything that is waited for beyond what it takes by itself.
PATIENCE_S = 90
LOOK_EVERY_S = 0.05


class PlayLost(RuntimeError):
    """Stampede ended, or what it was to bring about did not come."""


@dataclass
class Playing:
    """A run under way."""

    name: str
    process: subprocess.Popen
    folder: Path
    verdicts: list[dict] = field(default_factory=list)

    def until(self, what: str, holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        """Returns when it holds."""
        deadline = time.monotonic() + patience_s
        while not holds():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise PlayLost(f"{self.name}: timeout while waiting for {what}: {self._complaints()}")
            time.sleep(LOOK_EVERY_S)

    def _complaints(self) -> str:
        """What Stampede saw go wrong until now, once it has been asked to end."""
        processes.end(self.process, signal.SIGINT)
        try:
            errors = stampede.summary(stampede.only_run(self.folder))["errors"]
        except stampede.NoRun as lost:
            return str(lost)
        told = [f"{one['kind']} {one['outcome']}, {one['count']} times" for one in errors[:3]]
        return "; ".join(told) or "Stampede saw no error"

    def summary(self, patience_s: float) -> dict:
        """Waits for the end; what the run came to."""
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            raise PlayLost(f"{self.name} did not end within {patience_s:.0f} s") from None
        summary = stampede.summary(stampede.only_run(self.folder))
        self.verdicts.append(results.verdict(self.name, summary["verdict"]))
        return summary


@contextlib.contextmanager
def playing(binary: Path, name: str, scenario: str, values: dict, verdicts: list[dict]) -> Iterator[Playing]:
    """Begins to play `scenario` (a file below `scenarios/`); what Stampede says of the run is added to `verdicts`."""
    sets = [part for key, value in values.items() for part in ("--set", f"{key}={value}")]
    flags = ["--event-log", "none", "--source", SOURCES, "--quiet"]
    with tempfile.TemporaryDirectory(prefix="play-") as folder:
        out = Path(folder)
        command = [binary, "run", SCENARIOS / f"{scenario}.yaml", *sets, *flags, "--out", out]
        with stampede.started(command, out, PATIENCE_S) as process:
            yield Playing(name, process, out, verdicts)


def wrong(summary: dict, *names: str) -> list[str]:
    """Counts that ought to be nought and are not, with the most frequent error."""
    counts = summary["counts"]
    found = [f"{counts[name]:,} {name.replace('_', ' ')}" for name in names if counts[name]]
    if found and summary["errors"]:
        worst = summary["errors"][0]
        found.append(f"most of them: {worst['kind']} {worst['outcome']}")
    return found


def times_ms(summary: dict, name: str, prefix: str) -> dict[str, float]:
    """Percentiles of one of the summary's times; nothing where nothing was timed."""
    spread = summary["times"][name]
    if not spread["count"]:
        return {}
    return {f"{prefix}_ms_{part}": spread[f"{part}_us"] / 1000 for part in ("p50", "p99", "max")}
