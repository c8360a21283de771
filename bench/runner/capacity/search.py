"""One search, played by `stampede search` against a server of its own, and what came of it."""

import contextlib
import csv
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

from runner import cgroup
from runner.capacity.plan import Search, Setup
from runner.competition import cores
from runner.servers import CONNECTIONS_PER_SHARD, Running, Throng, free_port

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
# One source address has some 28,000 ports for one server, and those of a run before may still be waiting.
SOURCES = "127.1.0.1-127.1.0.16"
# Beyond the search's own time and its last run.
PATIENCE_S = 120
# How far below its beginning a search begins again on a machine that is slower than the one for which it was chosen.
LOWER = 8

LATENCY_PARTS = {"mean": "mean_us", "deviation": "stddev_us", "p50": "p50_us", "p99": "p99_us", "max": "max_us"}
COUNTS = ("sent", "expected", "delivered", "lost", "late", "in_flight", "errors", "connected_max", "http")


class SearchLost(RuntimeError):
    """Stampede ended without an answer."""


@dataclass(frozen=True)
class Rules:
    """How closely to search."""

    repeats: int = 2
    precision_percent: float = 10
    within_s: int = 70
    # How much of a core's time the server gets; `None` for all.
    cpu_limit: float | None = None

    def begin_of(self, search: Search) -> int:
        """Less of a core carries less."""
        return max(int(search.begin * (self.cpu_limit or 1)), 1)


@dataclass(frozen=True)
class Run:
    """One run of a search, as its folder tells of it."""

    load: int
    outcome: str
    folder: Path
    latency_ms: dict[str, float]
    counts: dict[str, int]
    # Of the server's process, in its busiest second.
    server_cores: float | None
    # Why it is INVALID, if it is.
    reasons: list[str]

    @staticmethod
    def of_step(step: dict) -> "Run":
        folder = Path(step["folder"])
        summary = json.loads((folder / "summary.json").read_text())
        latency = summary["times"]["latency"]
        parts = {name: latency[key] / 1000 for name, key in LATENCY_PARTS.items()} if latency["count"] else {}
        counts = {name: summary["counts"][name] for name in COUNTS}
        reasons = summary["verdict"]["reasons"]
        return Run(step["load"], step["outcome"], folder, parts, counts, _busiest_second(folder), reasons)


@dataclass(frozen=True)
class Found:
    """The answer of a search."""

    held: int | None
    failed: int | None
    limit: str
    # The load that the generator could not make.
    invalid: int | None
    held_runs: int
    failed_runs: int
    runs: list[Run]

    @staticmethod
    def of_report(report: dict) -> "Found":
        answer = report["answer"]
        names = ("held", "failed", "limit", "invalid", "held_runs", "failed_runs")
        return Found(*(answer[name] for name in names), [Run.of_step(step) for step in report["steps"]])

    @property
    def is_at_least(self) -> bool:
        """Whether nothing is known of the server's own limit above what held."""
        return self.failed is None or (self.invalid is not None and self.invalid < self.failed)

    @property
    def at_answer(self) -> Run | None:
        """The last run of the load that is the answer."""
        return self._last(self.held, "held")

    @property
    def beyond(self) -> Run | None:
        """The last run of the smallest load that failed."""
        return self._last(self.failed, "failed")

    def _last(self, load: int | None, outcome: str) -> Run | None:
        found = [run for run in self.runs if run.load == load and run.outcome == outcome]
        return found[-1] if found else None


@dataclass(frozen=True)
class Outcome:
    """What a search found, or why it found nothing."""

    found: Found | None
    fault: str | None


def play(search: Search, throng: Path, stampede: Path, rules: Rules, folder: Path) -> Found:
    """Searches; the runs stay in `folder`. Where not even the load to begin with holds, searches once more from far below.

    Raises `SearchLost` where Stampede says nothing that could be read, and `NoLimit` where processor time cannot be limited.
    """
    begun, begin = time.monotonic(), rules.begin_of(search)
    found = _play_from(begin, search, throng, stampede, rules, folder / "first")
    lower, seconds_left = max(begin // LOWER, 1), int(begun + rules.within_s - time.monotonic())
    if found.held is not None or lower == begin or seconds_left <= 0:
        return found
    again = _play_from(lower, search, throng, stampede, replace(rules, within_s=seconds_left), folder / "lower")
    return replace(again, runs=found.runs + again.runs)


def _play_from(begin: int, search: Search, throng: Path, stampede: Path, rules: Rules, folder: Path) -> Found:
    folder.mkdir()
    with server_for(search.setup, throng, rules.cpu_limit, folder) as (server, target):
        command = command_of(replace(search, begin=begin), stampede, rules, target, server.pid, folder / "runs")
        with cores.on(*_generator_cores(search.setup)):
            return _answer(command, rules.within_s + search.run_seconds + PATIENCE_S)


def command_of(search: Search, stampede: Path, rules: Rules, target: str, pid: int, out: Path) -> list[str]:
    command = [stampede, "search", SCENARIOS / search.scenario, "--vary", search.vary]
    command += ["--from", search.begin, "--to", search.most, "--repeats", rules.repeats]
    command += ["--precision", rules.precision_percent, "--within", rules.within_s]
    for condition in search.until:
        command += ["--until", condition]
    for name, value in (("target", target), *search.variables):
        command += ["--set", f"{name}={value}"]
    command += ["--source", SOURCES, "--pid", pid, "--event-log", "none", "--out", out, "--quiet", "--json"]
    # The certificate is of today and nobody's.
    return [str(part) for part in command] + ["--insecure"] * search.setup.tls


@contextlib.contextmanager
def server_for(
    setup: Setup, binary: Path, cpu_limit: float | None, folder: Path
) -> Iterator[tuple[Running, str]]:
    """A server set up like that, and the target that Stampede is to play against."""
    settings = {"THRONG_SHARDS": str(setup.shards)}
    if setup.compression:
        settings["THRONG_SOCKET_COMPRESSION"] = "true"
    if setup.tls:
        certificate, key = certificate_in(folder)
        settings |= {"THRONG_TLS_LISTEN": f"127.0.0.1:{free_port()}"}
        settings |= {"THRONG_TLS_CERTIFICATE": str(certificate), "THRONG_TLS_KEY": str(key)}
    # Within one descriptor table, so that there are as many shards as were asked for.
    stage = SimpleNamespace(connections=CONNECTIONS_PER_SHARD, single_shard=True)
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(limited(cpu_limit))
        with cores.on(*_server_cores(setup)):
            running = stack.enter_context(Throng(binary, settings).start(stage))
        if group:
            group.add(running.pid)
        target = f"wss://{settings['THRONG_TLS_LISTEN']}" if setup.tls else f"ws://{running.address}"
        yield running, target


def limited(cpu_limit: float | None) -> contextlib.AbstractContextManager[cgroup.Group | None]:
    """A control group for a server, unless it may have all there is."""
    return cgroup.limited(cpu_limit, f"throng-capacity-{os.getpid()}")


def certificate_in(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key, made now; openssl must be there."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return certificate, key


def can_make_certificates() -> bool:
    return shutil.which("openssl") is not None


def _answer(command: list[str], patience_s: float) -> Found:
    try:
        # What it says while it searches goes to whoever waits here.
        finished = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=patience_s
        )
        return Found.of_report(json.loads(finished.stdout))
    except subprocess.TimeoutExpired:
        raise SearchLost(f"stampede did not end within {patience_s:.0f} s") from None
    except json.JSONDecodeError:
        raise SearchLost(f"stampede ended with {finished.returncode} without an answer") from None


def _server_cores(setup: Setup) -> set[int]:
    return os.sched_getaffinity(0) if setup.shares_cores else {cores.server()}


def _generator_cores(setup: Setup) -> set[int]:
    """All but the server's, where there are others."""
    everything = os.sched_getaffinity(0)
    return everything if setup.shares_cores else (everything - {cores.server()} or everything)


def _busiest_second(folder: Path) -> float | None:
    path = folder / "servers.csv"
    if not path.exists():
        return None
    with path.open(newline="") as file:
        shares = [float(row["value"]) for row in csv.DictReader(file) if row["figure"] == "cpu"]
    return max(shares, default=None)
