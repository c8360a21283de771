"""The servers under test: how each is found, started and stopped."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

START_PATIENCE_S = 30
STOP_PATIENCE_S = 30
# Below the ports that Linux gives to outgoing connections. Each process begins elsewhere.
PORTS = range(10_000, 32_000)
_ports = islice(cycle(PORTS), os.getpid() * 61 % len(PORTS), None)

# Connections that one shard is planned for: a table of 20,000 less a reserve, and less the unevenness of chance.
CONNECTIONS_PER_SHARD = 17_000


@dataclass(frozen=True)
class Running:
    """A server that answers."""

    address: str
    pid: int
    metrics_url: str | None = None
    # Where Throng keeps its own files, the token of its administration among them.
    data_dir: Path | None = None


def find(bin_dir: Path, throng: Path, peers: Path) -> tuple[dict, dict[str, str]]:
    """The servers that are there, and for the others why they are not."""
    bun_folder = peers / "bun"
    bun = bun_folder / "node_modules" / ".bin" / "bun"
    bun = bun if bun.exists() else shutil.which("bun")
    candidates = {
        "floor": (Floor(bin_dir / "floor"), (bin_dir / "floor").exists(), f"no {bin_dir / 'floor'}"),
        "throng": (Throng(throng), throng.exists(), f"no {throng}"),
        "bun": (Bun(bun, bun_folder / "server.js"), bun is not None, f"not installed (npm ci --prefix {bun_folder})"),
    }
    found = {name: server for name, (server, there, _) in candidates.items() if there}
    return found, {name: reason for name, (_, there, reason) in candidates.items() if not there}


def shards_for(scenario) -> int:
    """As many as there are cores, or as descriptors ask for; one where the scenario says so."""
    if scenario.single_shard:
        return 1
    return max(os.cpu_count() or 1, -(-scenario.connections // CONNECTIONS_PER_SHARD))


@dataclass(frozen=True)
class Floor:
    binary: Path

    @contextlib.contextmanager
    def start(self, scenario) -> Iterator[Running]:
        command = [self.binary, "serve", "--exchange", scenario.exchange]
        command += ["--connections", scenario.connections, "--threads", shards_for(scenario)]
        with process_of(command) as process:
            yield Running(_announced_address(process), process.pid)


@dataclass(frozen=True)
class Throng:
    binary: Path
    # Further variables of its environment.
    settings: dict[str, str] = field(default_factory=dict)

    @contextlib.contextmanager
    def start(self, scenario) -> Iterator[Running]:
        address, admin = (f"127.0.0.1:{free_port()}" for _ in range(2))
        with tempfile.TemporaryDirectory(prefix="throng-bench-") as data_dir:
            environment = {
                "THRONG_LISTEN": address,
                "THRONG_ADMIN_LISTEN": admin,
                "THRONG_DATA_DIR": data_dir,
                "THRONG_SHARDS": str(shards_for(scenario)),
                # Beyond one descriptor table the server gives each shard its own.
                "THRONG_LIMITS_CONNECTIONS": str(scenario.connections + 1000),
                "THRONG_LOG_LEVEL": "warn",
            }
            environment |= self.settings
            command = [self.binary, "serve", "--profile", "load-test"]
            with process_of(command, environment, stdout=subprocess.DEVNULL) as process:
                wait_for_listener(address, process)
                if secure_address := self.settings.get("THRONG_TLS_LISTEN"):
                    wait_for_listener(secure_address, process)
                yield Running(address, process.pid, f"http://{admin}/metrics", Path(environment["THRONG_DATA_DIR"]))


@dataclass(frozen=True)
class Bun:
    binary: Path | str | None
    script: Path

    @contextlib.contextmanager
    def start(self, scenario) -> Iterator[Running]:
        port = free_port()
        address = f"127.0.0.1:{port}"
        with process_of([self.binary, self.script, "--port", port], stdout=subprocess.DEVNULL) as process:
            wait_for_listener(address, process)
            yield Running(address, process.pid)


@contextlib.contextmanager
def process_of(
    command: list, environment: dict[str, str] | None = None, stdout: int = subprocess.PIPE
) -> Iterator[subprocess.Popen]:
    """Runs `command`; ends it by closing its standard input and by SIGTERM, whichever it heeds."""
    process = subprocess.Popen(
        [str(part) for part in command],
        env=os.environ | (environment or {}),
        stdin=subprocess.PIPE,
        stdout=stdout,
        text=True,
    )
    try:
        yield process
    finally:
        process.stdin.close()
        process.terminate()
        try:
            process.wait(STOP_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


def _announced_address(process: subprocess.Popen) -> str:
    word, _, address = process.stdout.readline().strip().partition(" ")
    if word != "listening":
        raise RuntimeError(f"{process.args[0]} does not listen")
    return address


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, and that is given once."""
    for port in _ports:
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("the ports are reused in a cycle")


def wait_for_listener(address: str, process: subprocess.Popen) -> None:
    """Returns when `address` accepts; an error when the process ends or takes too long."""
    host, _, port = address.partition(":")
    deadline = time.monotonic() + START_PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args[0]} does not listen on {address}")
