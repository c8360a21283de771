"""A `throng` of the tests: on free ports, with a data directory of its own; asked by HTTP and by its commands."""

import json
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.programs import DEADLINE_SECONDS, foreign_variables, throng
from harness.server import Server


class Api(Server):
    """A running server, and who may administrate it."""

    @property
    def public(self) -> str:
        return f"http://{self.address}:{self.port}"

    @property
    def admin_address(self) -> str:
        return f"{self.address}:{self.admin_port}"

    @property
    def admin(self) -> str:
        return f"http://{self.admin_address}"

    @property
    def token(self) -> str:
        return (self.folder / "admin-token").read_text().strip()

    def command(self, *words: str, succeeds: bool = True) -> str:
        """What `throng WORDS…` prints; with `succeeds` false, what it complains about."""
        command = [throng(), *words, "--data-dir", str(self.folder), "--admin-listen", self.admin_address]
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, env=foreign_variables()
        )
        if (ended.returncode == 0) != succeeds:
            raise AssertionError(f"throng {' '.join(words)}: exit code {ended.returncode}: {ended.stderr}")
        return ended.stdout if succeeds else ended.stderr

    def operate(self, method: str, path: str, body: Any = None) -> Any:
        """What the administration answers."""
        return ask(self.admin, method, path, self.token, body)


def ask(base: str, method: str, path: str, bearer: str, body: Any = None) -> Any:
    """The answer's JSON; an error of HTTP is one here, with the problem's text."""
    headers = {"Authorization": f"Bearer {bearer}"}
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(f"{base}/api/v1{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error
    return json.loads(text) if text else None


@contextmanager
def running(settings: dict[str, str] | None = None) -> Iterator[Api]:
    """A server, from its first line to its orderly end."""
    with tempfile.TemporaryDirectory(prefix="throng-api-") as folder:
        server = Api(Path(folder), "data", settings or {})
        try:
            yield server
        finally:
            server.process.end()
