"""Clients: a WebSocket of few words from an address of one's own, and a crowd of stock phoenix clients."""

import json
import queue
import subprocess
import threading
import time
from pathlib import Path

from harness.programs import DEADLINE_SECONDS, HOST, ROOT
from harness.websocket import WebSocket

CROWD = ROOT / "tests" / "clients" / "harness" / "crowd.js"


class Client(WebSocket):
    """A WebSocket through the balancer."""

    def join(self, topic: str) -> None:
        self.send(json.dumps(["1", "1", topic, "phx_join", {}]))
        reply = json.loads(self.receive() or "[]")
        assert reply and reply[4]["status"] == "ok", reply


class Crowd:
    """The npm phoenix clients of tests/clients, each in a room of its own or all in one, and what happens to them."""

    def __init__(self, port: int, count: int, folder: Path, transport: str = "websocket", topic: str | None = None):
        endpoint = f"ws://{HOST}:{port}/socket"
        self.errors = open(folder / "crowd.log", "wb")
        self.child = subprocess.Popen(
            ["node", CROWD, endpoint, str(count), transport, *([topic] if topic else [])],
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

    def say(self, client: int, body: str) -> None:
        self.child.stdin.write(json.dumps({"client": client, "body": body}) + "\n")
        self.child.stdin.flush()

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

    def forget(self) -> None:
        """What happened so far is of no interest."""
        while not self.events.empty():
            self.events.get()

    def end(self) -> None:
        self.child.stdin.close()
        self.child.wait(DEADLINE_SECONDS)
        self.child.stdout.close()
        self.errors.close()
