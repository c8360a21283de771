"""Clients: a WebSocket of few words from an address of one's own, and a crowd of stock phoenix clients."""

import base64
import json
import os
import queue
import socket
import subprocess
import threading
import time
from pathlib import Path

from processes import BALANCER, DEADLINE_SECONDS, ROOT

CROWD = ROOT / "tests" / "clients" / "harness" / "crowd.js"
TEXT, MASKED = 0x81, 0x80


class Refused(Exception):
    """No socket; the status says why."""

    def __init__(self, status: int):
        super().__init__(f"answered {status}")
        self.status = status


class Client:
    """A WebSocket through the balancer."""

    def __init__(self, port: int, path: str = "/socket/websocket", source: str = "127.0.0.1"):
        self.socket = socket.create_connection((BALANCER, port), DEADLINE_SECONDS, (source, 0))
        self.stream = self.socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        separator = "&" if "?" in path else "?"
        self.socket.sendall(
            f"GET {path}{separator}vsn=2.0.0 HTTP/1.1\r\nHost: {BALANCER}:{port}\r\nConnection: Upgrade\r\n"
            f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        status = int(self.stream.readline().split()[1])
        while self.stream.readline() not in (b"\r\n", b""):
            pass
        if status != 101:
            self.close()
            raise Refused(status)

    def join(self, topic: str) -> None:
        message = json.dumps(["1", "1", topic, "phx_join", {}]).encode()
        # A masking key of zeros leaves the text as it is (RFC 6455 section 5.3).
        self.socket.sendall(bytes([TEXT, MASKED | len(message), 0, 0, 0, 0]) + message)
        kind, length = self.stream.read(2)
        reply = json.loads(self.stream.read(length))
        assert kind == TEXT and reply[4]["status"] == "ok", reply

    def close(self) -> None:
        self.stream.close()
        self.socket.close()


class Crowd:
    """The npm phoenix clients of tests/clients, each in a room of its own, and what happens to them."""

    def __init__(self, port: int, count: int, folder: Path):
        endpoint = f"ws://{BALANCER}:{port}/socket"
        self.errors = open(folder / "crowd.log", "wb")
        self.child = subprocess.Popen(
            ["node", CROWD, endpoint, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        self.events: queue.Queue[dict] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.child.stdout:
            self.events.put(json.loads(line))

    def wait_for(self, event: str, count: int) -> list[dict]:
        """Everything up to so many of one kind of event."""
        seen: list[dict] = []
        deadline = time.monotonic() + DEADLINE_SECONDS
        while sum(one["event"] == event for one in seen) < count:
            try:
                seen.append(self.events.get(timeout=max(0, deadline - time.monotonic())))
            except queue.Empty:
                raise AssertionError(f"waited in vain for {count} × {event}: {seen}") from None
        return seen

    def end(self) -> None:
        self.child.stdin.close()
        self.child.wait(DEADLINE_SECONDS)
        self.child.stdout.close()
        self.errors.close()
