"""A `throng` of the tests: on free ports, with a data directory of its own; asked by HTTP and by its commands."""

import json
import os
import re
import subprocess
import tempfile
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
# `throng` refuses variables of its own prefix that set nothing.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("THRONG_")}
THRONG = Path(os.environ.get("THRONG_BIN") or ROOT / "target" / "debug" / "throng")


class Server:
    """A running server."""

    def __init__(self, public: str, admin: str, data: Path) -> None:
        self.public = public
        self.admin = admin
        self.data = data
        self.token = (data / "admin-token").read_text().strip()

    def command(self, *words: str, succeeds: bool = True) -> str:
        """What `throng WORDS…` prints; with `succeeds` false, what it complains about."""
        flags = ["--data-dir", str(self.data), "--admin-listen", self.admin.removeprefix("http://")]
        ended = subprocess.run([THRONG, *words, *flags], capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
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
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error
    return json.loads(text) if text else None


@contextmanager
def running() -> Iterator[Server]:
    """A server, from its first line to its orderly end."""
    with tempfile.TemporaryDirectory(prefix="throng-api-") as folder:
        data = Path(folder) / "data"
        command = [THRONG, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--data-dir", str(data)]
        with (Path(folder) / "log").open("w+") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=ENVIRONMENT)
            try:
                yield started(process, data, Path(log.name))
            finally:
                process.terminate()
                try:
                    process.wait(timeout=60)
                finally:
                    process.kill()
                    assert process.stdout is not None
                    process.stdout.close()


def started(process: subprocess.Popen[str], data: Path, log: Path) -> Server:
    """Reads where it listens."""
    assert process.stdout is not None
    public = ""
    for line in process.stdout:
        if found := re.search(r"^listening on (http://\S+)", line):
            public = found[1]
        if found := re.search(r"^administration on (http://[^,\s]+)", line):
            return Server(public, found[1], data)
    raise AssertionError(f"the server ended before it listened: {log.read_text()}")
