"""What is measured of load generators: one class for each kind of scenario, and the plan of a run.

Every generator plays against the echo mount of the same server, one after the other. What was said is counted by the
server, and memory and CPU time by the kernel: no generator is asked about itself, except Stampede for its send lag.
"""

import json
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from runner import metrics, processes
from runner.generators import Play, Stampede
from runner.samples import Measurement, slope
from runner.servers import Running, Throng

SMOKE_SCALE = 100

ECHO_BYTES = 64
# A server's frame of so many bytes has two of head (RFC 6455, section 5.2).
ECHO_FRAME_BYTES = ECHO_BYTES + 2

PATIENCE_S = 180


GROUPS = ("load-memory", "load-echo", "load-lag")


def plan(group: str, smoke: bool) -> list:
    """The scenarios of a group, or of `load`: all of them."""
    scale, seconds = (SMOKE_SCALE, 1) if smoke else (1, 8)
    crowds = {"stampede": (20_000, 110_000, 200_000), "tsung": (2000, 6000, 10_000), "k6": (500, 1250, 2000)}
    steps = {name: [max(clients // scale, 5) for clients in crowd] for name, crowd in crowds.items()}
    scenarios = (
        IdleMemory("idle clients", steps, settles=not smoke),
        EchoCost("echo, generators", 100, seconds),
        SendLag("paced sends", 1000 // (10 if smoke else 1), seconds / 2, 16_000 // scale, searches=not smoke),
    )
    return [scenario for name, scenario in zip(GROUPS, scenarios) if group in (name, "load")]


class GeneratorLost(RuntimeError):
    """A generator ended, or did not do in time what it was to do."""


@dataclass(frozen=True)
class IdleMemory:
    """Idle connected clients: what each adds to the generator's resident set, of all its processes."""

    name: str
    steps: dict[str, list[int]]
    settles: bool = True
    single_shard: bool = False

    @property
    def generators(self) -> tuple:
        return tuple(self.steps)

    @property
    def connections(self) -> int:
        return max(steps[-1] for steps in self.steps.values())

    def repeats(self, wanted: int) -> int:
        return min(wanted, 2)  # minutes each, and hardly any spread

    def measure(self, name: str, generator, throng: Throng) -> Measurement:
        steps = self.steps[name]
        resident = [self._resident_bytes(clients, generator, throng) for clients in steps]
        return Measurement(
            {
                "rss_bytes_per_client": slope(steps, resident),
                f"rss_bytes_at_{steps[0]}": resident[0],
                f"rss_bytes_at_{steps[-1]}": resident[-1],
            },
            [],
        )

    def _resident_bytes(self, clients: int, generator, throng: Throng) -> int:
        """Of a run of its own for each number of clients: nothing is left of a larger crowd or of the coming."""
        with throng.start(self) as server, tempfile.TemporaryDirectory(prefix="generator-") as folder:
            play = Play("idle", clients, max(clients // (20 if self.settles else 4), 100), server)
            with generator.start(play, Path(folder)) as process:
                _wait_for_connections(server, process, clients, Path(folder))
                time.sleep(generator.settles_s if self.settles else 0)
                readings = []
                for _ in range(9):
                    readings.append(processes.resident_bytes(processes.tree(process.pid)))
                    time.sleep(0.25 if self.settles else 0)
                _wait_for_connections(server, process, clients, Path(folder))  # none was lost meanwhile
                return int(statistics.median(readings))


@dataclass(frozen=True)
class EchoCost:
    """Send, wait for the echo, again: messages for each second of the generator's CPU time, user and system."""

    name: str
    connections: int
    seconds: float
    generators: tuple = ("floor", "stampede", "stampede, event log", "tsung", "k6")
    single_shard: bool = False

    def repeats(self, wanted: int) -> int:
        return wanted

    def measure(self, _name: str, generator, throng: Throng) -> Measurement:
        with throng.start(self) as server, tempfile.TemporaryDirectory(prefix="generator-") as folder:
            play = Play("echo", self.connections, self.connections, server)
            with generator.start(play, Path(folder)) as process:
                _wait_for_connections(server, process, self.connections, Path(folder))
                time.sleep(self.seconds / 4)
                begin = _reading(server, process)
                time.sleep(self.seconds)
                end = _reading(server, process)
        messages, cpu, seconds = (after - before for before, after in zip(begin, end))
        faults = [] if messages > 0 else ["no echoes were received"]
        values = {
            "messages_per_cpu_second": messages / cpu if cpu else 0.0,
            "messages_per_second": messages / seconds,
            "generator_cores": cpu / seconds,
        }
        return Measurement(values, faults)


@dataclass(frozen=True)
class SendLag:
    """Stampede alone: how fast it can send on time, and how late it sends at half of that."""

    name: str
    connections: int
    seconds: float
    rate_begin: float
    # Otherwise one run, whatever Stampede says of its times: a busy machine must not fail a small form.
    searches: bool = True
    generators: tuple = ("stampede",)
    single_shard: bool = False

    def repeats(self, wanted: int) -> int:
        return min(wanted, 3)

    def measure(self, _name: str, generator: Stampede, throng: Throng) -> Measurement:
        if not self.searches:
            return _counted(self._play(self.rate_begin, generator, throng))
        best = max_of(lambda rate: self._play(rate, generator, throng)["valid_per_second"], self.rate_begin)
        if not best:
            return Measurement({}, [f"no valid run at {self.rate_begin:,.0f} messages per second"])
        at_half = self._play(best / 2, generator, throng)
        faults = [f"{at_half['errors']} errors at half of the maximum"] if at_half["errors"] else []
        values = {"max_valid_per_second": best, "sent_per_second_at_half": at_half["sent_per_second"]}
        values |= {f"send_lag_ms_{part}_at_half": at_half[part] for part in ("p50", "p99", "max")}
        return Measurement(values, faults)

    def _play(self, rate: float, generator: Stampede, throng: Throng) -> dict:
        """One run at so many messages per second; what Stampede says of it."""
        variables = {
            "clients": self.connections,
            "beat": f"{self.connections / rate * 1e6:.0f}us",
            "path": "/echo/websocket",
            "seconds": self.seconds + 1,  # in the first they come
        }
        with throng.start(self) as server, tempfile.TemporaryDirectory(prefix="generator-") as folder:
            variables["target"] = f"ws://{server.address}"
            command = [*generator.command("echo-paced", variables, Path(folder)), "--json"]
            finished = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, timeout=PATIENCE_S)
            return lag_of(json.loads(finished.stdout), self.seconds)


def _counted(played: dict) -> Measurement:
    faults = [] if played["sent_per_second"] else ["nothing was sent"]
    faults += [f"{played['errors']} errors"] if played["errors"] else []
    return Measurement({"sent_per_second": played["sent_per_second"]}, faults)


def lag_of(summary: dict, seconds: float) -> dict:
    """What is needed of a run's summary. Messages of a run that Stampede calls INVALID, as one that catches up with its
    plan by sending many at once, count for nothing."""
    lag = summary["times"]["send_lag"]
    sent_per_second = summary["counts"]["sent"] / (seconds + 0.5)
    return {
        "sent_per_second": sent_per_second,
        "valid_per_second": sent_per_second if summary["verdict"]["valid"] else 0.0,
        "errors": summary["counts"]["errors"],
        **{part: lag[f"{part}_us"] / 1000 for part in ("p50", "p99", "max")},
    }


def max_of(reached, begin: float, factor: float = 1.25, on_time: float = 0.97, tries: int = 2) -> float:
    """The most that was reached, wanting more and more until less than `on_time` of it is reached in each of some tries:
    a neighbour on the machine may spoil one. 0 when nothing was."""
    wanted, best = begin, 0.0
    while True:
        now = 0.0
        for _ in range(tries):
            now = max(now, reached(wanted))
            if now >= on_time * wanted:
                break
        best = max(best, now)
        if now < on_time * wanted:
            return best
        wanted *= factor


def _reading(server: Running, process: subprocess.Popen) -> tuple[float, float, float]:
    """Messages that the server has echoed, CPU seconds that the generator has used, and the time."""
    echoed = metrics.value(server.metrics_url, "throng_bytes_out_total") / ECHO_FRAME_BYTES
    return echoed, processes.cpu_seconds(processes.tree(process.pid)), time.monotonic()


def _wait_for_connections(server: Running, process: subprocess.Popen, clients: int, folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    connected = -1.0
    while time.monotonic() < deadline and process.poll() is None:
        connected = metrics.value(server.metrics_url, "throng_connections_open")
        if connected >= clients:
            return
        time.sleep(0.1)
    output = (folder / "output.log").read_text(errors="replace").strip().splitlines()
    raise GeneratorLost(f"{connected:.0f} of {clients} connected: {' '.join(output[-3:]) or 'no output'}")
