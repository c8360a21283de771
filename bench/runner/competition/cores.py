"""One core for the server, the other for its client: what is started `on` a core stays there, its children too, as with
taskset(1)."""

import contextlib
import os
from collections.abc import Iterator


def server() -> int:
    """The core of the server under test."""
    return max(os.sched_getaffinity(0))


def client() -> int:
    """The core of the load driver: another one, where there is another one."""
    return min(os.sched_getaffinity(0))


@contextlib.contextmanager
def on(*cores: int) -> Iterator[None]:
    """Processes that are started inside inherit the cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
