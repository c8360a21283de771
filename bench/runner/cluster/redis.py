"""A Redis server of a run's own, what it says of itself, and the subscribers of `redis-benchmark`."""

import contextlib
import os
import selectors
import shutil
import socket
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from runner import processes
from runner.servers import free_port, process_of, wait_for_listener

REMEDY = "`make deps` installs it on Debian"
# Debian's place for servers is not on everybody's path.
PATH = os.environ.get("PATH", "") + ":/usr/sbin"
ANSWER_PATIENCE_S = 30
READ_BYTES = 1 << 16


def absent(*programs: str) -> dict[str, str]:
    """Those that are not there."""
    return {name: REMEDY for name in programs if shutil.which(name, path=PATH) is None}


def find(program: str) -> str:
    found = shutil.which(program, path=PATH)
    if found is None:
        raise RuntimeError(f"{program} is missing: {REMEDY}")
    return found


@dataclass(frozen=True)
class Redis:
    """A running server."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def cpu_s(self) -> float:
        """User and system time of all of its threads."""
        return processes.clock_seconds([self.pid])

    def counts(self) -> dict[str, int]:
        """How often it read from somebody, what it was told to do, and how often that was to publish."""
        facts = info(str(self._ask("INFO", "everything")))
        publishes = facts.get("cmdstat_publish", "calls=0")
        return {
            "reads": int(facts["total_reads_processed"]),
            "commands": int(facts["total_commands_processed"]),
            "publishes": int(dict(part.split("=") for part in publishes.split(","))["calls"]),
        }

    def subscribed(self, pattern: str) -> Counter[int]:
        """How many of the channels that are like this have how many subscribers."""
        channels = self._ask("PUBSUB", "CHANNELS", pattern)
        return Counter(self._ask("PUBSUB", "NUMSUB", *channels)[1::2])

    def overhear(self, pattern: str) -> tuple[str, bytes]:
        """Channel and bytes of the next publication whose channel is like this."""
        with connection(self.port) as line:
            line.say("PSUBSCRIBE", pattern)
            line.hear()
            _, _, channel, message = line.hear()
            return channel.decode(), message

    def _ask(self, *words: str):
        with connection(self.port) as line:
            line.say(*words)
            answer = line.hear()
            return answer.decode() if isinstance(answer, bytes) else answer


@contextlib.contextmanager
def running() -> Iterator[Redis]:
    """One that keeps nothing on the disk: what is measured is never stored."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        command = [find("redis-server"), "--port", port, "--bind", "127.0.0.1", "--dir", folder]
        command += ["--save", "", "--appendonly", "no"]
        with process_of(command, stdout=subprocess.DEVNULL) as process:
            wait_for_listener(f"127.0.0.1:{port}", process)
            yield Redis(port, process.pid)


class Line:
    """A connection that speaks as much of Redis' protocol (RESP) as is needed here."""

    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), ANSWER_PATIENCE_S)
        self._stream = self.socket.makefile("rb")

    def say(self, *words: str | bytes) -> None:
        parts = [word.encode() if isinstance(word, str) else word for word in words]
        self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))

    def hear(self):
        """The next answer: bytes, a number, or a list."""
        head = self._stream.readline()
        kind, rest = head[:1], head[1:].strip()
        if kind in (b"$", b"="):
            text = self._stream.read(int(rest) + 2)[:-2]
            return text.partition(b":")[2] if kind == b"=" else text
        if kind in (b"*", b">"):
            return [self.hear() for _ in range(int(rest))]
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest
        raise RuntimeError(f"unexpected answer from Redis: {head!r}")

    def close(self) -> None:
        self._stream.close()
        self.socket.close()


@contextlib.contextmanager
def connection(port: int) -> Iterator[Line]:
    line = Line(port)
    try:
        yield line
    finally:
        line.close()


def info(text: str) -> dict[str, str]:
    """The fields of Redis' INFO."""
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line and not line.startswith("#"))


@contextlib.contextmanager
def subscribers(port: int, channels: list[str], count: int) -> Iterator[None]:
    """So many connections that are subscribed to all of these, and read what comes."""
    lines = [Line(port) for _ in range(count)]
    ended = threading.Event()
    reader = threading.Thread(target=_read_all, args=(lines, ended), daemon=True)
    try:
        for line in lines:
            line.say("SUBSCRIBE", *channels)
            for _ in channels:
                line.hear()
        reader.start()
        yield
    finally:
        ended.set()
        if reader.ident:
            reader.join()
        for line in lines:
            line.close()


def _read_all(lines: list[Line], ended: threading.Event) -> None:
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line.socket, selectors.EVENT_READ)
        while not ended.is_set():
            for key, _ in selector.select(timeout=0.1):
                key.fileobj.recv(READ_BYTES)


def benchmark(redis: Redis, channel: str, message: bytes, clients: int, pipeline: int, count: int) -> float:
    """Seconds of Redis' CPU that `redis-benchmark` costs it for each message that it publishes."""
    command = [find("redis-benchmark"), "-p", redis.port, "-c", clients, "-P", pipeline, "-n", count, "-q", "-x"]
    before = redis.cpu_s()
    subprocess.run(
        [*map(str, command), "PUBLISH", channel], input=message, stdout=subprocess.DEVNULL, check=True, timeout=300
    )
    return (redis.cpu_s() - before) / count
