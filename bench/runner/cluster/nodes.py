"""Nodes of one cluster, and one alone."""

import contextlib
import http.client
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from runner import metrics, processes
from runner.cluster.redis import Redis
from runner.servers import Running, Throng

START_PATIENCE_S = 60


@dataclass(frozen=True)
class Stage:
    """What a node is to be ready for."""

    connections: int
    # One shard each, so that the bus is what differs between one node and two, and not how many threads share a crowd.
    single_shard: bool = True


@contextlib.contextmanager
def alone(throng: Path, stage: Stage) -> Iterator[list[Running]]:
    with Throng(throng).start(stage) as node:
        yield [node]


@contextlib.contextmanager
def cluster(throng: Path, stage: Stage, redis: Redis, count: int, settings: dict | None = None) -> Iterator[list[Running]]:
    """So many nodes that know each other."""
    wanted = {"THRONG_BUS_URL": redis.url} | (settings or {})
    with contextlib.ExitStack() as stack:
        nodes = [stack.enter_context(Throng(throng, wanted).start(stage)) for _ in range(count)]
        deadline = time.monotonic() + START_PATIENCE_S
        while any(metrics.value(node.metrics_url, "throng_bus_nodes") != count for node in nodes):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the {count} nodes have not discovered each other after {START_PATIENCE_S} s")
            time.sleep(0.05)
        yield nodes


@dataclass(frozen=True)
class Reading:
    """Nodes at one moment, together."""

    at_s: float
    cpu_s: float
    messages_in: float
    messages_out: float

    @staticmethod
    def of(nodes: list[Running]) -> "Reading":
        pages = [metrics.text(node.metrics_url) for node in nodes]
        total = lambda name: sum(metrics.value_in(page, name) for page in pages)  # noqa: E731
        cpu_s = processes.clock_seconds([node.pid for node in nodes])
        return Reading(time.monotonic(), cpu_s, total("throng_messages_in_total"), total("throng_messages_out_total"))


@dataclass(frozen=True)
class Span:
    """What nodes did between two readings."""

    seconds: float
    cpu_s: float
    # Copies to members: whatever comes in, heartbeats too, has one answer beside them.
    deliveries: float

    @staticmethod
    def between(before: Reading, after: Reading) -> "Span":
        answers = after.messages_in - before.messages_in
        out = after.messages_out - before.messages_out
        return Span(after.at_s - before.at_s, after.cpu_s - before.cpu_s, out - answers)


def joined(nodes: list[Running]) -> float:
    """Joins that stand."""
    return sum(metrics.value(node.metrics_url, "throng_joined") for node in nodes)


class Administration:
    """What may be asked of a node by its administration."""

    def __init__(self, node: Running):
        self._token = (node.data_dir / "admin-token").read_text().strip()
        self._connection = http.client.HTTPConnection(urlsplit(node.metrics_url).netloc, timeout=60)

    def publish(self, topic: str, event: str, payload: dict) -> None:
        """Returns when it was taken; an error when it was not."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        body = json.dumps({"event": event, "payload": payload})
        self._connection.request("POST", f"/api/topics/{topic}/messages", body, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != http.client.ACCEPTED:
            raise RuntimeError(f"publishing to {topic} returned {answer.status}: {text.decode()}")

    def close(self) -> None:
        self._connection.close()
