"""Asks a server's administration again and again whether it lives, and what it takes."""

import re
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import Self

from harness.programs import DEADLINE_SECONDS
from harness.server import Server

BETWEEN_SECONDS = 0.1
# All that the server counts of its own memory, with which it keeps its budget.
WHOLE = re.compile(r"^throng_memory_whole_bytes ([0-9.e+]+)$", re.MULTILINE)


class Looking:
    """As a context it looks again and again, on a thread of its own, until its end."""

    def __init__(self, between_seconds: float):
        self._between_seconds = between_seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(DEADLINE_SECONDS)

    def _run(self) -> None:
        while not self._over.wait(self._between_seconds):
            self.look()

    def look(self) -> None:
        raise NotImplementedError


class Watch(Looking):
    """Asks a server for its health and its metrics."""

    def __init__(self, server: Server):
        super().__init__(BETWEEN_SECONDS)
        self.address = server.admin_address
        self.answers = 0
        self.problems: list[str] = []
        self.highest_bytes = 0.0

    def look(self) -> None:
        self._ask("/healthz", re.compile("ok"))
        found = self._ask("/metrics", WHOLE)
        if found:
            self.highest_bytes = max(self.highest_bytes, float(found[1]))

    def _ask(self, path: str, wanted: re.Pattern) -> re.Match | None:
        """What was found in the answer, if there was one."""
        began = time.monotonic()
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=DEADLINE_SECONDS) as answer:
                text = answer.read().decode()
        except OSError as error:
            self.problems.append(f"{path} after {time.monotonic() - began:.1f} s: {error}")
            return None
        self.answers += 1
        found = wanted.search(text)
        if found is None:
            self.problems.append(f"{path} says {text[:200]!r}")
        return found


class Most(Looking):
    """Keeps the greatest of the numbers that it is given."""

    def __init__(self, number: Callable[[], int]):
        super().__init__(BETWEEN_SECONDS / 10)
        self.value = 0
        self._number = number

    def look(self) -> None:
        self.value = max(self.value, self._number())
