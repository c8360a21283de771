"""Three nodes, and people on one of them who talk: what that costs the others. Their counters must not move."""

from dataclasses import dataclass

from runner import metrics, processes
from runner.cluster import redis
from runner.cluster.nodes import Stage, cluster
from runner.cluster.talk import Talk, talk
from runner.samples import Measurement
from runner.servers import Running
from runner.trials import Outcome, Tools

SUBJECT = "the two others"

# Everything that a node counts of what goes through the bus, and of what it tells its own clients.
COUNTERS = (
    'throng_bus_publications_total{origin="local"}',
    'throng_bus_publications_total{origin="bus"}',
    "throng_bus_dropped_total",
    "throng_bus_undecodable_total",
    "throng_bus_subscriptions",
    "throng_bus_queue_depth",
    "throng_messages_in_total",
    "throng_messages_out_total",
    "throng_topics",
)
PUBLISHED = COUNTERS[0]


@dataclass(frozen=True)
class Bystanders:
    name: str
    talk: Talk
    subjects: tuple = (SUBJECT,)

    @property
    def connections(self) -> int:
        return self.talk.users

    def repeats(self, _wanted: int) -> int:
        return 1  # what is judged does not vary

    def measure(self, tools: Tools) -> Outcome:
        outcome = Outcome({})
        seen = []
        with redis.running() as server, cluster(tools.throng, Stage(self.talk.users), server, 3) as nodes:
            busy, *others = nodes

            def look() -> None:
                seen.append((counts(busy), [counts(node) for node in others], cpu_s(others)))

            played = talk(tools, "talk on one of three nodes", self.talk, [busy], outcome.verdicts, look, look)
        (busy_before, before, cpu_before), (busy_after, after, cpu_after) = seen
        published = busy_after[PUBLISHED] - busy_before[PUBLISHED]
        values = {
            "published_meanwhile": published,
            "counters_that_moved": float(len(moved(before, after))),
            "bystander_cpu_ms_per_node": 1000 * (cpu_after - cpu_before) / len(others),
            "invalid_runs": float(not played.is_valid),
        }
        faults = played.faults + moved(before, after)
        faults += [] if published > 0 else ["nothing was published through the bus"]
        outcome.by_subject[SUBJECT] = Measurement(values, faults)
        return outcome


def counts(node: Running) -> dict[str, float]:
    page = metrics.text(node.metrics_url)
    return {name: metrics.value_in(page, name) for name in COUNTERS}


def cpu_s(nodes: list[Running]) -> float:
    return processes.clock_seconds([node.pid for node in nodes])


def moved(before: list[dict[str, float]], after: list[dict[str, float]]) -> list[str]:
    """The counters of nodes that ought to stand still and do not."""
    return [
        f"{name} of another node went from {was[name]:.0f} to {now[name]:.0f}"
        for was, now in zip(before, after)
        for name in COUNTERS
        if was[name] != now[name]
    ]
