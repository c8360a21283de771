"""The load generators that are compared: how each is found, and how it is told to play the same users.

Each plays `idle` (connect, stay) and `echo` (send 64 bytes, wait for the echo, again), one WebSocket for each user, in
the form in which its own manual has it done.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner import processes
from runner.servers import Running

BENCH = Path(__file__).resolve().parent.parent

ECHO_PATH = "/echo/websocket"

# Built once and kept. Its WebSockets with an event loop are called experimental, and are what its manual advises.
K6_VERSION = "v1.3.0"
K6_MODULE = "go.k6.io/k6"

# One source address has some 28,000 ports for one server.
SOURCES = "127.1.0.1-127.1.0.16"


@dataclass(frozen=True)
class Play:
    """What the users do, and how many they are."""

    name: str
    clients: int
    arrivals_per_second: int
    server: Running

    @property
    def url(self) -> str:
        return f"ws://{self.server.address}{ECHO_PATH}"


def find(bin_dir: Path, k6: Path | None, cache: Path, without: list[str]) -> tuple[dict, dict[str, str]]:
    """The generators that are there, and for the others why they are not; of those that are not wanted, nothing."""
    stampede, floor, tsung = bin_dir / "stampede", bin_dir / "bench-load", shutil.which("tsung")
    k6_binary, k6_reason = (None, "") if "k6" in without else find_k6(k6, cache)
    candidates = {
        "stampede": (Stampede(stampede), stampede.exists(), f"{stampede.name} is not in --bin-dir"),
        "stampede, event log": (Stampede(stampede, "zstd"), stampede.exists(), "as stampede"),
        "floor": (FloorClient(floor), floor.exists(), f"{floor.name} is not in --bin-dir"),
        "tsung": (Tsung(tsung), tsung is not None, "not installed (Debian's package `tsung`)"),
        "k6": (K6(k6_binary), k6_binary is not None, k6_reason),
    }
    wanted = {name: candidate for name, candidate in candidates.items() if name not in without}
    found = {name: generator for name, (generator, there, _) in wanted.items() if there}
    return found, {name: reason for name, (_, there, reason) in wanted.items() if not there}


def find_k6(given: Path | None, cache: Path) -> tuple[Path | None, str]:
    """k6 of the pinned version, built with go where it is not there yet; or why there is none."""
    if given:
        return (given, "") if given.exists() else (None, f"no {given}")
    binary = cache / f"k6-{K6_VERSION}" / "k6"
    if binary.exists():
        return binary, ""
    go = shutil.which("go")
    if go is None:
        return None, f"not in {binary.parent}, and `go` is missing to build {K6_MODULE}@{K6_VERSION}"
    print(f"building {K6_MODULE}@{K6_VERSION}…", flush=True)
    environment = os.environ | {"GOBIN": str(binary.parent)}
    built = subprocess.run(
        [go, "install", f"{K6_MODULE}@{K6_VERSION}"], env=environment, stderr=subprocess.PIPE, text=True
    )
    if built.returncode == 0:
        return binary, ""
    last_line = (built.stderr.strip().splitlines() or ["no output"])[-1]
    return None, f"`go install {K6_MODULE}@{K6_VERSION}` failed: {last_line}"


@dataclass(frozen=True)
class Stampede:
    """Ours."""

    binary: Path
    event_log: str = "none"
    # From the last connection to a resident set that does not move any more.
    settles_s: float = 5

    @contextlib.contextmanager
    def start(self, play: Play, folder: Path) -> Iterator[subprocess.Popen]:
        variables = {"target": f"ws://{play.server.address}", "path": ECHO_PATH, "clients": play.clients}
        variables |= {"idle": {"arrivals": play.arrivals_per_second}, "echo": {"seconds": 3600}}[play.name]
        with _started(self.command(play.name, variables, folder), folder, by=signal.SIGINT) as process:
            yield process

    def command(self, scenario: str, variables: dict, folder: Path) -> list:
        sets = [part for name, value in variables.items() for part in ("--set", f"{name}={value}")]
        file = BENCH / "scenarios" / f"{scenario}.yaml"
        flags = ["--event-log", self.event_log, "--out", folder / "runs", "--source", SOURCES, "--quiet"]
        return [self.binary, "run", file, *sets, *flags]


@dataclass(frozen=True)
class FloorClient:
    """The driver that measures servers: canned bytes, nothing is parsed, timed or judged."""

    binary: Path
    settles_s: float = 1

    @contextlib.contextmanager
    def start(self, play: Play, folder: Path) -> Iterator[subprocess.Popen]:
        common = [self.binary, "--address", play.server.address, "--path", ECHO_PATH]
        mode = ["echo", "--connections", play.clients, "--in-flight", 1, "--seconds", 3600]
        with _started([*common, *mode], folder) as process:
            yield process


@dataclass(frozen=True)
class Tsung:
    """Debian's, its users in the controller's own virtual machine: one process less than with a slave."""

    binary: str | None
    # A process of Erlang that waits gives its heap back when it hibernates, by default after ten seconds.
    settles_s: float = 15

    @contextlib.contextmanager
    def start(self, play: Play, folder: Path) -> Iterator[subprocess.Popen]:
        host, _, port = play.server.address.partition(":")
        text = (BENCH / "peers" / "tsung" / f"{play.name}.xml").read_text()
        facts = {"host": host, "port": port, "path": ECHO_PATH, "clients": play.clients}
        file = folder / "tsung.xml"
        file.write_text(text.format(**facts, arrivals=play.arrivals_per_second))
        # -n: no dashboard, whose port may be taken. -I: an address, because the host's name may not resolve.
        command = [self.binary, "-n", "-I", "127.0.0.1", "-f", file, "-l", folder, "start"]
        with _name_server(folder) as environment, _started(command, folder, environment) as process:
            yield process


@dataclass(frozen=True)
class K6:
    """One virtual user for each user, as its manual has it."""

    binary: Path | None
    settles_s: float = 15

    @contextlib.contextmanager
    def start(self, play: Play, folder: Path) -> Iterator[subprocess.Popen]:
        quiet = ["--quiet", "--no-usage-report", "--summary-mode=disabled", "--address", ""]
        values = ["-e", f"CLIENTS={play.clients}", "-e", f"URL={play.url}"]
        command = [self.binary, "run", *quiet, *values, BENCH / "peers" / "k6" / f"{play.name}.js"]
        with _started(command, folder) as process:
            yield process


@contextlib.contextmanager
def _started(
    command: list, folder: Path, environment: dict | None = None, by: int = signal.SIGTERM
) -> Iterator[subprocess.Popen]:
    """Runs `command` in a session of its own, its output in `folder`, and ends it."""
    with open(folder / "output.log", "wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            processes.end(process, by)


@contextlib.contextmanager
def _name_server(home: Path) -> Iterator[dict]:
    """Erlang's port mapper on a port and with a home of this run's own; yields the environment to use it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {"ERL_EPMD_PORT": str(port), "ERL_EPMD_ADDRESS": "127.0.0.1", "HOME": str(home)}
    environment = os.environ | own
    mapper = subprocess.Popen(
        ["epmd"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield environment
    finally:
        processes.end(mapper)
