"""Watches a machine while server and load generator run on it: a row every half second, from a thread of its own."""

import http.client
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from runner import kernel, metrics, processes
from runner.servers import Running
from runner.turns import ask_for_short_turns

EVERY_S = 0.5


@dataclass(frozen=True)
class Row:
    """The machine at one moment. Counts are the servers' own, from their `/metrics`, and of all of them together."""

    at_s: float  # since 1970
    scrape_ms: float  # of the slowest
    connections: float
    joined: float
    messages_out: float
    server_rss_bytes: int
    server_cpu_s: float
    generator_rss_bytes: int
    generator_cpu_s: float
    available_bytes: int
    kernel_slab_bytes: int
    socket_memory_bytes: int


class Watch:
    """Begins to watch when it is entered; `rows` grows until it is left."""

    def __init__(self, servers: Iterable[Running], generators: Iterable[int] = ()):
        self.rows: list[Row] = []
        self.failed_scrapes: list[str] = []
        self.failed_looks: list[str] = []
        self.generators = list(generators)
        self._servers = list(servers)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        self._thread.join()

    def until(self, what: str, holds, patience_s: float, alive=lambda: True) -> Row:
        """The first row from now on for which `holds`; an error after so long, or when `alive` is no longer true."""
        deadline, seen = time.monotonic() + patience_s, len(self.rows)
        while time.monotonic() < deadline and alive() and self._thread.is_alive():
            for row in self.rows[seen:]:
                seen += 1
                if holds(row):
                    return row
            time.sleep(EVERY_S / 5)
        last = asdict(self.rows[-1]) if self.rows else "no data"
        raise TimeoutError(f"gave up waiting for {what}: {'timeout' if time.monotonic() >= deadline else 'a process has ended'}: {last}")

    def _run(self) -> None:
        ask_for_short_turns()
        while not self._ended.wait(EVERY_S):
            try:
                scrapes = [_scrape(server.metrics_url) for server in self._servers]
                self.rows.append(self._look(scrapes))
            except (FileNotFoundError, ProcessLookupError, ValueError) as error:
                # A process has ended between two looks at it.
                self.failed_looks.append(str(error))
            except (OSError, http.client.HTTPException, KeyError) as error:
                self.failed_scrapes.append(f"{time.strftime('%H:%M:%S', time.gmtime())}: {type(error).__name__}: {error}")

    def _look(self, scrapes: list[tuple[str, float]]) -> Row:
        """`scrapes`: each server's page, and how many milliseconds it took."""
        at_s = time.time()
        pages = [page for page, _ in scrapes]
        pids = [server.pid for server in self._servers]
        generators = [pid for pid in self.generators if Path(f"/proc/{pid}/stat").exists()]
        return Row(
            at_s=at_s,
            scrape_ms=max(scrape_ms for _, scrape_ms in scrapes),
            connections=sum(metrics.value_in(page, "throng_connections_open") for page in pages),
            joined=sum(metrics.value_in(page, "throng_joined") for page in pages),
            messages_out=sum(sum_of(page, "throng_messages_out_total") for page in pages),
            server_rss_bytes=sum(map(kernel.resident_bytes, pids)),
            server_cpu_s=processes.cpu_seconds(pids),
            generator_rss_bytes=processes.resident_bytes(generators),
            generator_cpu_s=processes.cpu_seconds(generators),
            available_bytes=kernel.available_bytes(),
            kernel_slab_bytes=kernel.slab_bytes(),
            socket_memory_bytes=kernel.socket_memory_bytes(),
        )


def _scrape(url: str) -> tuple[str, float]:
    """What a server says of itself, and after how many milliseconds."""
    begin = time.monotonic()
    page = metrics.text(url)
    return page, (time.monotonic() - begin) * 1000


def sum_of(text: str, name: str) -> float:
    """A counter over all its labels."""
    lines = (line for line in text.splitlines() if line.startswith((f"{name} ", f"{name}{{")))
    return sum(float(line.rpartition(" ")[2]) for line in lines)
