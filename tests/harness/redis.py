"""What stands between the nodes: a Redis, and a way to it that can be cut."""

import socket
import threading
from contextlib import suppress
from pathlib import Path

from harness.programs import DEADLINE_SECONDS, HOST, Process, find, free_port


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
        self.process.wait_until_it_listens(self.port)

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
