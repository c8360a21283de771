"""Readings of a server while it is under load: memory, its parts, descriptors, connections."""

import http.client
import time
from dataclasses import dataclass
from pathlib import Path

from runner import kernel, metrics
from runner.servers import Running

EVERY_S = 1.0


@dataclass(frozen=True)
class Reading:
    """The server at one moment."""

    second: float  # since the run's start
    rss_bytes: int
    descriptors: int
    connections: float
    components: dict[str, float]


def read(server: Running, began: float) -> Reading:
    """Raises OSError or an HTTPException where the server does not answer."""
    page = metrics.text(server.metrics_url)
    return Reading(
        second=time.monotonic() - began,
        rss_bytes=kernel.resident_bytes(server.pid),
        descriptors=descriptors(server.pid),
        connections=metrics.value_in(page, "throng_connections_open"),
        components=metrics.components_in(page, "throng_memory_bytes"),
    )


def descriptors(pid: int) -> int:
    """Open descriptors of the process."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


class Watch:
    """Reads about once a second while `until` is false; readings that fail are counted."""

    def __init__(self, server: Running):
        self.readings: list[Reading] = []
        self.failed: list[str] = []
        self._server, self._began = server, time.monotonic()

    def run(self, until) -> None:
        due = time.monotonic()
        while not until():
            try:
                self.readings.append(read(self._server, self._began))
            except (OSError, http.client.HTTPException, KeyError, ValueError) as error:
                self.failed.append(str(error))
            due = max(due + EVERY_S, time.monotonic())
            time.sleep(max(due - time.monotonic(), 0.05))

    def settled(self, holds, patience_s: float) -> Reading:
        """The first reading from now on for which `holds`, or the last one within so long."""
        deadline = time.monotonic() + patience_s
        while not holds(reading := read(self._server, self._began)) and time.monotonic() < deadline:
            time.sleep(EVERY_S / 2)
        return reading
