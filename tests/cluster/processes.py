"""The programs of a test: a Redis, and Throng servers with it between them. Everything is on 127.0.0.1."""

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
THRONG = Path(os.environ.get("THRONG_BIN", ROOT / "target" / "release" / "throng"))
HOST = "127.0.0.1"

# Longest wait for anything. Only something broken meets it.
DEADLINE_SECONDS = 60


def wait_until(what: str, is_so) -> None:
    """Asks again and again: other processes tell nobody that they changed."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(0.02)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def find(program: str) -> str:
    """Where a program is; a missing one is a failure."""
    found = shutil.which(program)
    if found is None:
        raise AssertionError(f"the program `{program}` is missing (`make deps` installs it)")
    return found


def foreign_variables() -> dict[str, str]:
    """The environment without settings of ours."""
    return {name: value for name, value in os.environ.items() if not name.startswith("THRONG_")}


class Process:
    """A child with its log in a file; ended with the test."""

    def __init__(self, command: list, log: Path, environment: dict[str, str] | None = None):
        self.log = log
        with open(log, "ab") as output:
            self.child = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    def signal(self, number: signal.Signals) -> None:
        self.child.send_signal(number)

    def kill(self) -> None:
        """As by `kill -9`; once more does nothing."""
        with suppress(ProcessLookupError):
            self.child.kill()
        self.child.wait(DEADLINE_SECONDS)

    def assert_runs(self) -> None:
        if self.child.poll() is not None:
            raise AssertionError(f"it ended with {self.child.returncode}: {self.log.read_text()[-2000:]}")


class Redis:
    """A Redis whose every write is in its file before it is answered; may be started again."""

    def __init__(self, folder: Path, *arguments: str):
        self.port = free_port()
        self.folder = folder / f"redis-{self.port}"
        self.folder.mkdir(parents=True)
        self.arguments = arguments or ("--appendonly", "yes", "--appendfsync", "always")
        self.start()

    def start(self) -> None:
        command = [find("redis-server"), "--port", self.port, "--bind", HOST, "--dir", self.folder, "--save", ""]
        command = [str(word) for word in (*command, *self.arguments)]
        self.process = Process(command, self.folder / "redis.log")
        wait_until("Redis listens", self._listens)

    def _listens(self) -> bool:
        self.process.assert_runs()
        try:
            socket.create_connection((HOST, self.port), DEADLINE_SECONDS).close()
            return True
        except OSError:
            return False

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}"


class Proxy:
    """A way to Redis that can be cut: what is sent meanwhile neither arrives nor is refused."""

    def __init__(self, to: int):
        self.to = to
        self.open = threading.Event()
        self.open.set()
        self.listener = socket.create_server((HOST, 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self.open.clear()

    def heal(self) -> None:
        self.open.set()

    def end(self) -> None:
        self.heal()
        self.listener.close()

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        self.open.wait()
        try:
            far = socket.create_connection((HOST, self.to), DEADLINE_SECONDS)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self.open.wait()
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Server:
    """One `throng serve`, a node of the cluster; may be started again."""

    def __init__(self, folder: Path, name: str, settings: dict[str, str]):
        self.port, self.admin_port = free_port(), free_port()
        self.folder = folder / name
        self.folder.mkdir(parents=True)
        own = {
            "THRONG_LISTEN": f"{HOST}:{self.port}",
            "THRONG_ADMIN_LISTEN": f"{HOST}:{self.admin_port}",
            "THRONG_DATA_DIR": str(self.folder),
            "THRONG_SHARDS": "2",
        }
        self.environment = {**foreign_variables(), **own, **settings}
        self.start()

    def start(self) -> None:
        self.process = Process([THRONG, "serve"], self.folder / "throng.log", self.environment)
        wait_until("the server is ready", self.is_ready)

    def is_ready(self) -> bool:
        self.process.assert_runs()
        return self.readiness().startswith("ready")

    def readiness(self) -> str:
        """What `/readyz` says; nothing before the server listens."""
        try:
            with self._ask("/readyz") as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except OSError:
            return ""

    def wait_for_bus(self) -> None:
        wait_until("the bus is up", lambda: "bus: up since " in self.readiness())

    def wait_until_bus_is_away(self, because: str = "") -> str:
        """Returns what `/readyz` says."""
        wait_until(f"the bus is away because {because}", lambda: self._is_away(because))
        return self.readiness()

    def _is_away(self, because: str) -> bool:
        said = self.readiness()
        return "bus: away since " in said and because in said.partition(" because ")[2]

    def metric(self, name: str) -> float:
        """One number of `/metrics`, by its name with its labels."""
        with self._ask("/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return next(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name} "))

    def log(self) -> str:
        return self.process.log.read_text()

    def _ask(self, path: str):
        return urllib.request.urlopen(f"http://{HOST}:{self.admin_port}{path}", timeout=DEADLINE_SECONDS)
