"""A server that begins on a store of very many communities, beside one that begins on none: how long it takes, and that no
community has a thread or a timer of its own."""

import contextlib
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from runner import kernel, metrics, processes
from runner.cluster.nodes import Stage
from runner.messenger.house import furnish
from runner.servers import Running, Throng
from runner.trials import Outcome, Tools
from runner.samples import Measurement

EMPTY, FULL = "no communities", "many communities"

READY_PATIENCE_S = 120
# Of each person's messages: enough that communities have a history, little enough that the file is made in a minute.
MESSAGES = 5


@dataclass(frozen=True)
class Startup:
    name: str
    communities: int
    people: int
    # How long it is watched when it has nothing to do.
    seconds: float
    subjects: tuple = (EMPTY, FULL)
    connections: int = 100

    def repeats(self, wanted: int) -> int:
        return wanted

    def measure(self, tools: Tools) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="startup-") as name:
            empty, full = Path(name) / "empty", Path(name) / "full"
            furnish(tools, full, self.communities, rooms=1, members=self.people, messages=MESSAGES)
            found = {EMPTY: self._begun(tools, empty), FULL: self._begun(tools, full)}
        threads = {subject: values["threads"] for subject, values in found.items()}
        # The same one program, idle twice: one thread more that it starts by chance would be a mistake as well.
        faults = [] if threads[FULL] == threads[EMPTY] else [f"{threads[FULL]:.0f} threads, and without communities {threads[EMPTY]:.0f}"]
        return Outcome({EMPTY: Measurement(found[EMPTY], []), FULL: Measurement(found[FULL], faults)})

    def _begun(self, tools: Tools, data: Path) -> dict[str, float]:
        began = time.monotonic()
        settings = {"THRONG_DATA_DIR": str(data)}
        with Throng(tools.throng, settings).start(Stage(self.connections, single_shard=False)) as server:
            ready(server)
            took = time.monotonic() - began
            before, cpu_before = wakeups(server.pid), processes.clock_seconds([server.pid])
            time.sleep(self.seconds)
            woke = wakeups(server.pid) - before
            cpu = processes.clock_seconds([server.pid]) - cpu_before
            return {
                "ready_s": took,
                "threads": float(len(list(Path(f"/proc/{server.pid}/task").iterdir()))),
                "wakeups_per_second": woke / self.seconds,
                "idle_cpu_percent": 100 * cpu / self.seconds,
                "rss_bytes": kernel.resident_bytes(server.pid),
                "communities_active": metrics.value(server.metrics_url, "throng_communities_active"),
            }


def ready(server: Running) -> None:
    """Returns when it says that it is ready."""
    deadline = time.monotonic() + READY_PATIENCE_S
    url = server.metrics_url.removesuffix("/metrics") + "/readyz"
    while True:
        with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(url, timeout=10):
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"the server is not ready after {READY_PATIENCE_S} s")
        time.sleep(0.01)


def wakeups(pid: int) -> int:
    """How often threads of a process have gone to sleep by themselves, which a timer's end is followed by."""
    return sum(_voluntary((task / "status").read_text()) for task in Path(f"/proc/{pid}/task").iterdir())


def _voluntary(status: str) -> int:
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("voluntary_ctxt_switches")))
