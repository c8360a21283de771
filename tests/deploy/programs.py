"""The programs that the tests of deploy/ need, and how they are started and ended. What is missing is named with its
remedy; it is never a reason to pass."""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
THRONG = Path(os.environ.get("THRONG_BIN", ROOT / "target" / "release" / "throng"))
STAMPEDE = Path(os.environ.get("STAMPEDE_BIN", ROOT / "target" / "debug" / "stampede"))

POLL_SECONDS = 0.1
# For what takes moments on a machine with nothing else to do.
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 30


class Missing(RuntimeError):
    """A program that the tests cannot do without is not there."""


def program(name: str, remedy: str = "`make deps` installs it on Debian") -> str:
    """Where it is."""
    path = shutil.which(name)
    if path is None:
        raise Missing(f"{name} is missing: {remedy}")
    return path


def throng() -> str:
    """Where the server is."""
    return program(str(THRONG), "`make build` builds it; THRONG_BIN names another")


def stampede() -> str:
    """Where the load lab is."""
    return program(str(STAMPEDE), "`cargo build --bins` builds it; STAMPEDE_BIN names another")


def run(*command: str | Path, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Runs a checker; gives its exit status and all that it said."""
    ended = subprocess.run(
        [str(word) for word in command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=START_SECONDS_MAX,
        check=False,
    )
    return ended.returncode, ended.stdout


@contextmanager
def running(command: list[str], log: Path, environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen]:
    """Starts a program with its output in a file, and ends it."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=log.parent
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def get(url: str) -> bytes | None:
    """The body of a 200, or `None`: the program may still be starting."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read()
    except (urllib.error.URLError, OSError):
        return None


def until(what: str, holds: Callable[[], bool], seconds_max: float = START_SECONDS_MAX) -> None:
    """Waits until something holds."""
    deadline = time.monotonic() + seconds_max
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds_max} s: {what}")
        time.sleep(POLL_SECONDS)


def without_throng_variables() -> dict[str, str]:
    """The environment without settings for the server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("THRONG_")}
