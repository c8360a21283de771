"""People in rooms who talk at a steady rate, whatever servers they are on, and what that costs the nodes meanwhile."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from runner.cluster.nodes import Reading, Span, joined
from runner.play import PATIENCE_S, playing, times_ms, wrong
from runner.servers import Running
from runner.trials import Tools


@dataclass(frozen=True)
class Talk:
    """Who talks, and how much."""

    rooms: int
    members: int
    # All of them together.
    messages_per_second: float
    seconds: float
    # After the beginning and before the end, so that what is counted is nothing but talk.
    margin_s: float = 1.0
    # What comes later than half of this is late, and what comes later than all of it is lost.
    drain_s: float = 2.0

    @property
    def users(self) -> int:
        return self.rooms * self.members

    @property
    def interval_s(self) -> float:
        return self.users / self.messages_per_second

    def times(self, seconds: float) -> dict[str, str]:
        """Of a scenario in which so many seconds are counted."""
        return {
            "interval": f"{self.interval_s * 1e6:.0f}us",
            "talk": f"{self.interval_s + seconds + 2 * self.margin_s:.3f}s",
            "drain": f"{self.drain_s}s",
        }

    def at(self, messages_per_second: float) -> "Talk":
        return replace(self, messages_per_second=messages_per_second)


@dataclass(frozen=True)
class Talked:
    """What came of it."""

    span: Span
    summary: dict
    # Of a room, each of whom gets a copy.
    members: int

    @property
    def is_valid(self) -> bool:
        return self.summary["verdict"]["valid"]

    @property
    def latency_ms(self) -> dict[str, float]:
        return times_ms(self.summary, "latency", "latency")

    @property
    def faults(self) -> list[str]:
        """Wrong counts, late messages not among them: they are what too much load looks like."""
        found = wrong(self.summary, "users_failed", "errors", "lost", "duplicates")
        return found if self.span.deliveries > 0 else [*found, "nothing was delivered"]

    @property
    def figures(self) -> dict[str, float]:
        """Per second of the nodes' CPU, whatever else took some."""
        span = self.span
        return {
            "deliveries_per_cpu_second": span.deliveries / span.cpu_s,
            "deliveries_per_second": span.deliveries / span.seconds,
            "messages_per_second": span.deliveries / self.members / span.seconds,
            "server_cores": span.cpu_s / span.seconds,
        } | self.latency_ms


def talk(
    tools: Tools,
    name: str,
    plan: Talk,
    nodes: list[Running],
    verdicts: list[dict],
    begins: Callable[[], None] = lambda: None,
    ends: Callable[[], None] = lambda: None,
) -> Talked:
    """Lets them come to the first two nodes, or the only one. `begins` and `ends` are called around what is counted."""
    values = {
        "first": f"ws://{nodes[0].address}",
        "second": f"ws://{nodes[min(1, len(nodes) - 1)].address}",
        "rooms": plan.rooms,
        "users": plan.users,
    } | plan.times(plan.seconds)
    with playing(tools.stampede, name, "cluster-rooms", values, verdicts) as play:
        play.until("everybody's join", lambda: joined(nodes) >= plan.users)
        # The first ones think for as long as an interval at most.
        time.sleep(plan.interval_s + plan.margin_s)
        begins()
        before = Reading.of(nodes)
        time.sleep(plan.seconds)
        span = Span.between(before, Reading.of(nodes))
        ends()
        return Talked(span, play.summary(plan.interval_s + plan.seconds + PATIENCE_S), plan.members)
