"""How long the two who talk with each other had to wait, from the event log of their own run of Stampede."""

import csv
import json
import math
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True)
class Delivery:
    """A message that one of the two got."""

    intended_s: float  # since 1970
    latency_ms: float  # from when it ought to have been sent


@dataclass(frozen=True)
class Latency:
    """Of the messages that were meant to be sent in a time."""

    count: int
    p50_ms: float
    p99_ms: float
    max_ms: float

    @staticmethod
    def of(latencies_ms: list[float]) -> "Latency | None":
        if not latencies_ms:
            return None
        ordered = sorted(latencies_ms)
        return Latency(len(ordered), _nearest(ordered, 0.5), _nearest(ordered, 0.99), ordered[-1])


def read(run: Path, room: str = "rooms:pair") -> list[Delivery]:
    """The deliveries in a run's folder, whose event log is plain CSV: what one of the two got from the other. Whoever says
    something to a room gets it as well, and that is no talk."""
    started_s = datetime.fromisoformat(json.loads((run / "run.json").read_text())["started"]).timestamp()
    with (run / "events.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["room"] == room and row["outcome"] == "ok"]
    senders = {row["message"]: row["user"] for row in rows if row["kind"] == "send"}
    return [
        Delivery(started_s + int(row["intended_ns"]) / 1e9, (int(row["at_ns"]) - int(row["intended_ns"])) / 1e6)
        for row in rows
        if row["kind"] == "receive" and row["user"] != senders.get(row["message"])
    ]


def within(deliveries: list[Delivery], windows: list[tuple[float, float]]) -> Latency | None:
    """Of those that were meant to be sent in one of the windows."""
    return Latency.of(
        [d.latency_ms for d in deliveries if any(begin <= d.intended_s <= end for begin, end in windows)]
    )


def _nearest(ordered: list[float], rank: float) -> float:
    """The nearest-rank percentile."""
    return ordered[max(math.ceil(rank * len(ordered)) - 1, 0)]
