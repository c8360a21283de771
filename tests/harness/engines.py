"""What stands between the nodes: a Redis or a NATS server, and a way to it that can be cut."""

import shutil
import socket
import threading
from contextlib import suppress
from pathlib import Path

from harness.programs import DEADLINE_SECONDS, HOST, Process, find, free_port


class Engine:
    """A server with its files in a folder of its own; may be killed and started again."""

    scheme: str

    def __init__(self, folder: Path, password: str = "", host: str = HOST, *settings: object):
        """`settings`: further words of its command."""
        self.host, self.port = host, free_port(host)
        self.folder = folder / f"engine-{self.port}"
        self.password = password
        self.settings = settings
        self.start()

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [str(word) for word in (*self.command(), *self.settings)]
        self.process = Process(command, self.log)
        self.process.wait_until_it_listens(self.port, self.host)

    def command(self) -> list[object]:
        raise NotImplementedError

    def forget(self) -> None:
        """Loses everything that it kept; it must not run."""
        shutil.rmtree(self.folder)

    @property
    def log(self) -> Path:
        return self.folder.with_suffix(".log")

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def url_of(self, name: str, password: str) -> str:
        return self.url.replace("://", f"://{name}:{password}@")


class Redis(Engine):
    """Every write is in its file before it is answered."""

    scheme = "redis"

    def command(self) -> list[object]:
        files = ["--dir", self.folder, "--save", "", "--appendonly", "yes", "--appendfsync", "always"]
        password = ["--requirepass", self.password] if self.password else []
        # Its protected mode lets nobody in from beyond this machine's loopback; where it listens is what protects it here.
        place = ["--port", self.port, "--bind", self.host, "--protected-mode", "no"]
        return [find("redis-server"), *place, *files, *password]


class Nats(Engine):
    """With JetStream, whose writes are the kernel's before they are answered."""

    scheme = "nats"

    def command(self) -> list[object]:
        password = ["--user", "somebody", "--pass", self.password] if self.password else []
        place = ["--port", self.port, "--addr", self.host]
        return [find("nats-server"), *place, "--jetstream", "--store_dir", self.folder, *password]


class Proxy:
    """A way to an engine that can be cut: what is sent meanwhile neither arrives nor is refused."""

    def __init__(self, engine: Engine):
        self.engine = engine
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
        return f"{self.engine.scheme}://{HOST}:{self.port}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        self.open.wait()
        try:
            far = socket.create_connection((self.engine.host, self.engine.port), DEADLINE_SECONDS)
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
