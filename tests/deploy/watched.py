"""Two replicas with a bus between them under a little load, the machine's exporter, and a Prometheus with the files of
deploy/prometheus that scrapes them: one replica is found by file, the other by name where this process may have a name
server."""

import json
import shutil
import urllib.parse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import names
import programs
from harness.engines import Redis
from harness.programs import HOST, Process, find, free_port, stampede, wait_until
from harness.server import Server

# The name that prometheus.yml looks for, and the port that it takes for granted.
REPLICAS_NAME = "throng-admin"
REPLICAS_PORT = "port: 4001"
# So that every rule has something to say: those of the budget have nothing to say without one.
SETTINGS = {"THRONG_LIMITS_MEMORY_BUDGET": "1GiB", "THRONG_SHUTDOWN_SPREAD": "0s"}
TALKING_SECONDS = 120
CLIENTS = 4
SCRAPE_SECONDS = 1


@dataclass(frozen=True)
class Watched:
    """What runs."""

    prometheus: str
    replicas: list[str]
    """The administration listeners, as Prometheus names them."""
    by_name: bool
    """Whether one of them was found by name."""

    def query(self, expression: str) -> list[dict]:
        """What Prometheus answers now: series, each with its value. An expression that it refuses is an error."""
        answer = self._ask(f"/api/v1/query?{urllib.parse.urlencode({'query': expression})}")
        data = answer["data"]
        # A scalar is one series without labels.
        return [{"metric": {}, "value": data["result"]}] if data["resultType"] == "scalar" else data["result"]

    def rules(self) -> list[dict]:
        """All rules, with how their last evaluation went."""
        groups = self._ask("/api/v1/rules")["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def targets_up(self) -> set[str]:
        """Who was scraped well the last time."""
        targets = self._ask("/api/v1/targets?state=active")["data"]["activeTargets"]
        return {target["labels"]["instance"] for target in targets if target["health"] == "up"}

    def _ask(self, path: str) -> dict:
        body = programs.get(self.prometheus + path)
        if body is None:
            raise AssertionError(f"Prometheus refuses {urllib.parse.unquote_plus(path)}")
        return json.loads(body)


@contextmanager
def watched(folder: Path) -> Iterator[Watched]:
    """Starts everything and waits until every target was scraped."""
    with ExitStack() as stack:
        redis = Redis(folder)
        stack.callback(redis.process.end)
        replicas = [stack.enter_context(_replica(folder, name, redis.url)) for name in ("a", "b")]
        exporter = stack.enter_context(_exporter(folder))
        by_name = names.can_serve()
        by_file = replicas[:1] if by_name else replicas
        configuration = _configuration(folder, by_file, exporter, replicas[1])
        address = stack.enter_context(names.serving(REPLICAS_NAME, [HOST])) if by_name else None
        prometheus = stack.enter_context(_prometheus(folder, configuration, address))
        result = Watched(prometheus, replicas, by_name)
        wait_until("Prometheus scrapes everything", lambda: result.targets_up() >= {*replicas, exporter})
        yield result


@contextmanager
def _replica(folder: Path, name: str, bus: str) -> Iterator[str]:
    settings = {**SETTINGS, "THRONG_BUS_URL": bus, "THRONG_BUS_LISTEN": f"{HOST}:0"}
    with Server(folder, name, settings) as server, _talk(folder, name, server.port):
        yield server.admin_address


@contextmanager
def _talk(folder: Path, name: str, port: int) -> Iterator[None]:
    command = [stampede(), "rooms", f"ws://{HOST}:{port}/socket/websocket"]
    options = {"rooms": 2, "clients": CLIENTS, "rate": 5, "seconds": TALKING_SECONDS, "out": folder / f"talk-{name}"}
    words = [f"--{option}={value}" for option, value in options.items()]
    with Process([*command, *words], folder / f"stampede-{name}.log"):
        yield


@contextmanager
def _exporter(folder: Path) -> Iterator[str]:
    address = f"{HOST}:{free_port()}"
    command = [find("prometheus-node-exporter"), f"--web.listen-address={address}"]
    with Process(command, folder / "node-exporter.log"):
        yield address


def _configuration(folder: Path, replicas: list[str], exporter: str, named: str) -> Path:
    """The files as they are shipped, but for the pace, the targets and the port behind the name."""
    copy = folder / "prometheus"
    shutil.copytree(programs.DEPLOY / "prometheus", copy)
    path = copy / "prometheus.yml"
    text = path.read_text()
    for shipped, here in [
        ("15s", f"{SCRAPE_SECONDS}s"),
        ("10s", f"{SCRAPE_SECONDS}s"),
        (REPLICAS_PORT, f"port: {named.rpartition(':')[2]}"),
    ]:
        assert shipped in text, f"prometheus.yml no longer says {shipped}"
        text = text.replace(shipped, here)
    path.write_text(text)
    (copy / "targets" / "throng.yml").write_text(json.dumps([{"targets": replicas}]))
    (copy / "targets" / "node.yml").write_text(json.dumps([{"targets": [exporter]}]))
    return path


@contextmanager
def _prometheus(folder: Path, configuration: Path, name_server: str | None) -> Iterator[str]:
    address = f"{HOST}:{free_port()}"
    command = [
        find("prometheus"),
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder / 'series'}",
        f"--web.listen-address={address}",
    ]
    if name_server is not None:
        command = names.asking(command, name_server, folder)
    with Process(command, folder / "prometheus.log"):
        url = f"http://{address}"
        wait_until("Prometheus is ready", lambda: programs.get(f"{url}/-/ready") is not None)
        yield url
