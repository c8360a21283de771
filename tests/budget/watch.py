"""Asks a server's administration again and again whether it lives, and what it takes."""

import re
import threading
import time
import urllib.request
from collections.abc import Callable

from harness.programs import DEADLINE_SECONDS
from harness.server import Server

BETWEEN_SECONDS = 0.1
# All that the server counts of its own memory, with which it keeps its budget.
WHOLE = re.compile(r"^throng_memory_whole_bytes ([0-9.e+]+)$", re.MULTILINE)


class Watch:
    """As a context it watches until its end."""

    def __init__(self, server: Server):
        self.address = server.admin_address
        self.answers = 0
        self.problems: list[str] = []
        self.highest_bytes = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(DEADLINE_SECONDS)

    def _run(self) -> None:
        while not self._over.wait(BETWEEN_SECONDS):
            self._look("/healthz", re.compile("ok"))
            found = self._look("/metrics", WHOLE)
            if found:
                self.highest_bytes = max(self.highest_bytes, float(found[1]))

    def _look(self, path: str, wanted: re.Pattern) -> re.Match | None:
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


class Most:
    """As a context it looks at a number until its end, and keeps the greatest."""

    def __init__(self, look: Callable[[], int]):
        self.value = 0
        self._look = look
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Most":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(DEADLINE_SECONDS)

    def _run(self) -> None:
        while not self._over.wait(BETWEEN_SECONDS / 10):
            self.value = max(self.value, self._look())
