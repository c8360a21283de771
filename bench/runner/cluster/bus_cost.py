"""What a message costs Redis when nodes publish it, beside `redis-benchmark` with the same bytes, as many subscribers of
as many channels, and as many commands in a write."""

from collections import Counter
from dataclasses import dataclass

from runner.cluster import redis
from runner.cluster.nodes import Stage, cluster
from runner.cluster.talk import Talk, talk
from runner.samples import Measurement
from runner.trials import Outcome, Tools

NODES, BENCHMARK = "two nodes", "redis-benchmark"

TOPICS = "*topic:*"


@dataclass(frozen=True)
class BusCost:
    name: str
    talk: Talk
    # Messages that redis-benchmark publishes.
    count: int
    subjects: tuple = (BENCHMARK, NODES)

    @property
    def connections(self) -> int:
        return self.talk.users

    def repeats(self, wanted: int) -> int:
        return wanted

    def measure(self, tools: Tools) -> Outcome:
        outcome = Outcome({})
        looks = []
        overheard = []
        with redis.running() as server, cluster(tools.throng, Stage(self.talk.users), server, 2) as nodes:

            def begin() -> None:
                overheard.append((*server.overhear(TOPICS), server.subscribed(TOPICS)))
                look()

            def look() -> None:
                looks.append((server.cpu_s(), server.counts()))

            played = talk(tools, "two nodes with a Redis", self.talk, nodes, outcome.verdicts, begin, look)
        (cpu_before, before), (cpu_after, after) = looks
        done = {name: after[name] - before[name] for name in after}
        [(channel, message, subscribed)] = overheard
        pipeline = max(round(done["commands"] / max(done["reads"], 1)), 1)
        published = max(done["publishes"], 1)
        outcome.by_subject[NODES] = Measurement(
            {
                "redis_cpu_us_per_message": 1e6 * (cpu_after - cpu_before) / published,
                "published_per_second": done["publishes"] / played.span.seconds,
                "commands_per_read": done["commands"] / max(done["reads"], 1),
                "redis_cores": (cpu_after - cpu_before) / played.span.seconds,
                "subscribers": subscribed_mean(subscribed),
                "message_bytes": len(message),
                "invalid_runs": float(not played.is_valid),
            },
            played.faults + ([] if done["publishes"] else ["nothing was published"]),
        )
        each = beside(self.count, channel, message, subscribed, pipeline)
        outcome.by_subject[BENCHMARK] = Measurement({"redis_cpu_us_per_message": 1e6 * each}, [])
        return outcome


def subscribed_mean(subscribed: Counter[int]) -> float:
    """Subscribers of a channel, of which all are published to as often."""
    return sum(count * channels for count, channels in subscribed.items()) / subscribed.total()


def beside(count: int, channel: str, message: bytes, subscribed: Counter[int], pipeline: int) -> float:
    """Seconds of a fresh Redis' CPU for each message of `redis-benchmark`. It publishes to one channel, and there are as
    many others, with names as long, as the nodes had. Theirs have one subscriber or more, as their members are on one node
    or on several: each such number is measured by itself, and counts as often as it was found."""
    others = [f"{number:0{len(channel)}d}" for number in range(subscribed.total() - 1)]
    spent = 0.0
    for subscribers, channels in sorted(subscribed.items()):
        with redis.running() as server, redis.subscribers(server.port, [channel, *others], subscribers):
            each = redis.benchmark(server, channel, message, clients=2, pipeline=pipeline, count=count)
        spent += each * channels
    return spent / subscribed.total()
