"""The C10K WebSocket test of 2012, played by `stampede c10k`, and what is read of its summary."""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

# Beyond the test's own time: connecting, the end, the report.
PATIENCE_S = 180

# Of the summary's times, each with the name it has here; microseconds there, milliseconds here.
PARTS = {"mean": "mean_us", "median": "p50_us", "p95": "p95_us", "p99": "p99_us", "max": "max_us"}
TIMES = {"connection_time": "connect", "latency": "service_latency"}

COUNTS = ("connections", "messages", "disconnections", "connection_timeouts", "crashes")


class PlayerLost(RuntimeError):
    """Stampede ended without a summary."""


@dataclass(frozen=True)
class Played:
    """The test's figures by name, and why the run is not to be believed, if it is not."""

    values: dict[str, float]
    invalid_because: list[str]


def play(stampede: Path, address: str, path: str, clients: int, seconds: int) -> Played:
    """One run of the test."""
    host, _, port = address.partition(":")
    with tempfile.TemporaryDirectory(prefix="c10k-") as folder:
        command = [str(stampede), "c10k", host, port, "--clients", str(clients), "--seconds", str(seconds)]
        command += [] if path == "/" else ["--path", path]
        command += ["--event-log", "none", "--out", folder, "--quiet", "--json"]
        try:
            finished = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=seconds + PATIENCE_S,
            )
            return of_summary(json.loads(finished.stdout))
        except subprocess.TimeoutExpired:
            raise PlayerLost(f"stampede did not end within {seconds + PATIENCE_S} s") from None
        except json.JSONDecodeError:
            said = (finished.stderr.strip().splitlines() or ["no output"])[0]
            raise PlayerLost(f"stampede ended with {finished.returncode} and no summary: {said}") from None


def of_summary(summary: dict) -> Played:
    """Under the names of the test. A crash is a client that ended for any reason but a slow TCP connect or the server's
    close."""
    counts, values = summary["counts"], {}
    for name, time in TIMES.items():
        if summary["times"][time]["count"]:
            values |= {f"{name}_ms_{part}": summary["times"][time][key] / 1000 for part, key in PARTS.items()}
    values["connections"] = counts["connects"]
    values["messages"] = counts["received"]
    values["disconnections"] = counts["disconnects"]
    values["connection_timeouts"] = counts["connect_timeouts"]
    known_ends = counts["connect_timeouts"] + counts["disconnects"]
    values["crashes"] = max(counts["users_failed"] - known_ends, 0)
    return Played(values, summary["verdict"]["reasons"])


def faults(values: dict[str, float], clients: int) -> list[str]:
    """What the test calls a failure."""
    wrong = [] if values["connections"] == clients else [f"{values['connections']} of {clients} connected"]
    wrong += [] if values["messages"] else ["no echoes were received"]
    failures = ("disconnections", "connection_timeouts", "crashes")
    return wrong + [f"{values[name]} {name.replace('_', ' ')}" for name in failures if values[name]]
