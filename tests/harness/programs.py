"""Programs, and how they are started, waited for and ended. What is missing is a failure with its remedy."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parent.parent.parent
THRONG = Path(os.environ.get("THRONG_BIN", ROOT / "target" / "debug" / "throng")).absolute()
STAMPEDE = Path(os.environ.get("STAMPEDE_BIN", ROOT / "target" / "debug" / "stampede")).absolute()
HOST = "127.0.0.1"

# Longest wait for anything. Only something broken meets it.
DEADLINE_SECONDS = 180
# Between two looks at what tells nobody that it changed.
POLL_SECONDS = 0.02
# Below the ports that Linux gives to outgoing connections, one of which would else take a server's between two starts.
PORTS = range(10_000, 32_000)
# Each process of tests begins elsewhere.
_ports = islice(cycle(PORTS), os.getpid() * 61 % len(PORTS), None)


class Missing(RuntimeError):
    """A program that the tests cannot do without is not there."""


def find(program: str, remedy: str = "`make deps` installs it on Debian") -> str:
    """Where a program is. Debian's place for servers is not on everybody's path."""
    found = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if found is None:
        raise Missing(f"{program} is missing: {remedy}")
    return found


def throng() -> str:
    """Where the server is."""
    return find(str(THRONG), "`cargo build --bins` builds it; THRONG_BIN names another")


def stampede() -> str:
    """Where the load lab is."""
    return find(str(STAMPEDE), "`cargo build --bins` builds it; STAMPEDE_BIN names another")


def foreign_variables() -> dict[str, str]:
    """The environment without settings of ours."""
    return {name: value for name, value in os.environ.items() if not name.startswith("THRONG_")}


def free_port(*addresses: str) -> int:
    """A port that nobody listens on at all of these (at 127.0.0.1, if none are given), and that is given once."""
    for port in _ports:
        with suppress(OSError):
            for address in addresses or (HOST,):
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind((address, port))
            return port
    raise AssertionError("the ports come round for ever")


def wait_until(what: str, is_so: Callable[[], bool]) -> None:
    """Asks again and again: other processes tell nobody that they changed."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(POLL_SECONDS)


class Process:
    """A child with its log in a file; as a context it is ended behind it."""

    def __init__(self, command: list, log: Path, environment: dict[str, str] | None = None, **options):
        self.log = log
        with open(log, "ab") as output:
            streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
            self.child = subprocess.Popen(command, env=environment, cwd=log.parent, **streams, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def signal(self, number: signal.Signals) -> None:
        self.child.send_signal(number)

    def wait(self) -> int:
        """Waits for its end; the exit code."""
        return self.child.wait(DEADLINE_SECONDS)

    def end(self) -> None:
        """Asks it to end, and makes it if it does not."""
        self.child.terminate()
        try:
            self.wait()
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """As by `kill -9`; once more does nothing."""
        with suppress(ProcessLookupError):
            self.child.kill()
        self.wait()

    def is_running(self) -> bool:
        return self.child.poll() is None

    def assert_runs(self) -> None:
        if not self.is_running():
            raise AssertionError(f"it ended with {self.child.returncode}: {self.log.read_text()[-2000:]}")

    def wait_until_it_listens(self, port: int, host: str = HOST) -> None:
        wait_until(f"{self.child.args[0]} listens", lambda: self._listens(port, host))

    def _listens(self, port: int, host: str) -> bool:
        self.assert_runs()
        with suppress(OSError):
            socket.create_connection((host, port), DEADLINE_SECONDS).close()
            return True
        return False
