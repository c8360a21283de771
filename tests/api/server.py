"""A `throng` of the tests: on free ports, with a data directory of its own; asked by HTTP and by its commands."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.programs import DEADLINE_SECONDS, foreign_variables, throng
from harness.server import Server


class Api(Server):
    """A running server, asked by HTTP and by its commands."""

    @property
    def public(self) -> str:
        return f"http://{self.address}:{self.port}"

    @property
    def admin(self) -> str:
        return f"http://{self.admin_address}"

    def command(self, *words: str, succeeds: bool = True) -> str:
        """What `throng WORDS…` prints; with `succeeds` false, what it complains about."""
        command = [throng(), *words, "--data-dir", str(self.folder), "--admin-listen", self.admin_address]
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, env=foreign_variables()
        )
        if (ended.returncode == 0) != succeeds:
            raise AssertionError(f"throng {' '.join(words)}: exit code {ended.returncode}: {ended.stderr}")
        return ended.stdout if succeeds else ended.stderr


@contextmanager
def running(settings: dict[str, str] | None = None) -> Iterator[Api]:
    """A server, from its first line to its orderly end."""
    with tempfile.TemporaryDirectory(prefix="throng-api-") as folder, Api(Path(folder), "data", settings or {}) as server:
        yield server
