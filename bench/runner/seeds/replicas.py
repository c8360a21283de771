"""Two servers with a Redis between them, behind HAProxy as `deploy/` has it: new sockets go to them in turn."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from runner.cluster import redis
from runner.cluster.nodes import cluster
from runner.servers import Running, free_port, process_of, wait_for_listener

CONFIGURATION = Path(__file__).resolve().parents[3] / "deploy" / "haproxy" / "round-robin.cfg"

COUNT = 2
HOST = "127.0.0.1"
# Beyond the clients: whoever looks.
CONNECTIONS_SPARE = 100


class Absent(RuntimeError):
    """A program that replicas need is not there."""


@dataclass(frozen=True)
class Replicas:
    """They answer at the balancer's address."""

    address: str
    nodes: list[Running]


@contextlib.contextmanager
def replicas(throng: Path, stage) -> Iterator[Replicas]:
    if absent := redis.absent("redis-server", "haproxy"):
        raise Absent("; ".join(f"no {name}: {remedy}" for name, remedy in absent.items()))
    settings = {"THRONG_TRUSTED_PROXIES": HOST}
    with contextlib.ExitStack() as stack:
        bus = stack.enter_context(redis.running())
        nodes = stack.enter_context(cluster(throng, stage, bus, COUNT, settings))
        yield Replicas(stack.enter_context(_balanced(nodes, stage.connections)), nodes)


@contextlib.contextmanager
def _balanced(nodes: list[Running], connections: int) -> Iterator[str]:
    """HAProxy before these nodes; its address."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="haproxy-") as folder:
        path = Path(folder) / CONFIGURATION.name
        path.write_text(configured(CONFIGURATION.read_text(), port, nodes, connections + CONNECTIONS_SPARE))
        with process_of([redis.find("haproxy"), "-db", "-f", path], stdout=subprocess.DEVNULL) as process:
            wait_for_listener(f"{HOST}:{port}", process)
            yield f"{HOST}:{port}"


def configured(shipped: str, port: int, nodes: list[Running], connections: int) -> str:
    """The shipped configuration with this machine's addresses. The nodes have a port of administration each, where the
    shipped ones have one in common; each connection takes two descriptors of one table."""
    replaced = {"bind :80": f"bind {HOST}:{port}", "maxconn 100000": f"maxconn {connections}"}
    for number, node in enumerate(nodes, 1):
        # With the end of the line: comments name such addresses, too.
        replaced[f"10.0.0.1{number}:4000\n"] = f"{node.address} port {urlsplit(node.metrics_url).port}\n"
    text = shipped
    for there, here in replaced.items():
        if there not in text:
            raise RuntimeError(f"{CONFIGURATION.name} has no {there.strip()!r}")
        text = text.replace(there, here)
    return text
