"""The targets, and whether they are reached. They hold on a quiet machine with two cores."""

from dataclasses import dataclass

from runner.samples import Samples, Spread


@dataclass(frozen=True)
class Target:
    """A value of one server, or its ratio to another's, that must lie on one side of a bound."""

    scenario: str
    name: str
    server: str
    base: str | None
    at_most: float | None = None
    at_least: float | None = None

    @property
    def text(self) -> str:
        relation, bound = ("≤", self.at_most) if self.at_least is None else ("≥", self.at_least)
        times = f" × {self.base}" if self.base else ""
        return f"{self.server}, {self.scenario}: {self.name} {relation} {bound:,}{times}"

    def is_reached(self, value: float) -> bool:
        return value <= self.at_most if self.at_least is None else value >= self.at_least


@dataclass(frozen=True)
class Verdict:
    """A target and what was measured for it; nothing, if it was not."""

    target: Target
    measured: Spread | None

    @property
    def text(self) -> str:
        if self.measured is None:
            return "not measured"
        return "reached" if self.target.is_reached(self.measured.median) else "MISSED"


CROWD = "broadcast to 100,000"
IDLE = "idle clients"
ECHO = "echo, generators"

TARGETS = (
    # A floor below these is broken, or its machine is busy; no ratio to it means much then.
    Target("connect", "connections_per_second", "floor", None, at_least=25_000),
    Target("broadcast to 10,000", "server_cpu_us_per_delivery", "floor", None, at_most=10.5),
    Target("echo, 1 in flight", "echoes_per_second", "floor", None, at_least=150_000),
    Target("memory", "rss_bytes_per_connection", "throng", None, at_most=400),
    # What the server says its memory is made of, as a part of what the kernel says it has.
    Target("memory", "rss_parts_of_whole", "throng", None, at_least=0.9),
    Target("memory", "rss_parts_of_whole", "throng", None, at_most=1.1),
    Target(CROWD, "server_cpu_us_per_delivery", "throng", "floor", at_most=1.10),
    Target(CROWD, "last_receiver_ms_median", "throng", "floor", at_most=1.15),
    Target("connect", "connections_per_second", "throng", "floor", at_least=0.65),
    Target("echo, 1 in flight", "server_cpu_us_per_echo", "throng", "floor", at_most=1.1),
    Target("echo, 16 in flight", "server_cpu_us_per_echo", "throng", "floor", at_most=1.4),
    Target("echo, 1 in flight", "echoes_per_second", "throng", "bun", at_least=1.0),
    Target("echo, 16 in flight", "echoes_per_second", "throng", "bun", at_least=1.0),
    # The load generators; a client's bytes are the generator's own memory, of all its processes.
    Target(IDLE, "rss_bytes_per_client", "stampede", None, at_most=400),
    Target(IDLE, "rss_bytes_per_client", "stampede", None, at_most=1024),
    Target(IDLE, "rss_bytes_per_client", "tsung", "stampede", at_least=10.0),
    Target(IDLE, "rss_bytes_per_client", "k6", "stampede", at_least=10.0),
    Target(ECHO, "messages_per_cpu_second", "stampede", "tsung", at_least=1.0),
    Target(ECHO, "messages_per_cpu_second", "stampede", "k6", at_least=1.0),
    Target("paced sends", "send_lag_ms_p99_at_half", "stampede", None, at_most=2.0),
)


def judge(samples: Samples, targets: tuple[Target, ...] = TARGETS) -> list[Verdict]:
    """Each target whose scenario was part of the run."""
    return [
        Verdict(target, _measured(target, samples)) for target in targets if target.scenario in samples.by_scenario
    ]


def _measured(target: Target, samples: Samples) -> Spread | None:
    if target.base:
        return samples.ratio(target.scenario, target.server, target.base, target.name)
    return samples.spread(target.scenario, target.server, target.name)
