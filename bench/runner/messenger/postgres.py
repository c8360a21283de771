"""A PostgreSQL server of a run's own."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.servers import free_port

# Where Debian has PostgreSQL's programs.
FOLDERS = [f"/usr/lib/postgresql/{version}/bin" for version in (15, 16, 17)]
PATH = os.pathsep.join([*FOLDERS, os.environ.get("PATH", "")])
REMEDY = "`make deps` installs Debian's package `postgresql`"
# PostgreSQL refuses to run as root; there is this user on every Debian.
NOBODY = 65_534
START_PATIENCE_S = 120


def absent() -> dict[str, str]:
    """What is not there of what is needed."""
    return {name: REMEDY for name in ("initdb", "postgres", "pgbench", "pg_isready") if shutil.which(name, path=PATH) is None}


def _find(program: str) -> str:
    found = shutil.which(program, path=PATH)
    if found is None:
        raise RuntimeError(f"{program} is missing: {REMEDY}")
    return found


@dataclass(frozen=True)
class Postgres:
    """A running server."""

    port: int

    @property
    def url(self) -> str:
        return f"postgres://throng@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *words) -> str:
        """What one of PostgreSQL's clients prints."""
        where = ["-h", "127.0.0.1", "-p", self.port, "-U", "throng"]
        command = [_find(program), *where, *words, "postgres"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def messages_by_community(self) -> dict[str, int]:
        """How many messages the store's tables have."""
        rows = self.run("psql", "-q", "-A", "-t", "-c", "SELECT community, count(*) FROM messages GROUP BY community")
        return {community: int(count) for community, count in (row.split("|") for row in rows.splitlines())}


@contextlib.contextmanager
def running() -> Iterator[Postgres]:
    """As it comes: what is committed is on the disk."""
    with tempfile.TemporaryDirectory(prefix="postgres-") as name:
        folder, data = Path(name), Path(name) / "data"
        folder.chmod(0o755)
        data.mkdir(mode=0o700)
        user = {}
        if os.geteuid() == 0:
            os.chown(data, NOBODY, NOBODY)
            user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "cwd": "/"}
        flags = ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=throng", "--no-sync"]
        with (folder / "log").open("wb") as log:
            subprocess.run([_find("initdb"), *flags, "--pgdata", data], check=True, stderr=log, **quiet, **user)
            port = free_port()
            options = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
            command = [_find("postgres"), "-D", str(data), "-p", str(port), *options]
            process = subprocess.Popen(command, stderr=log, **quiet, **user)
        try:
            _wait(port, process)
            yield Postgres(port)
        finally:
            # A fast shutdown: it waits for nobody.
            process.send_signal(signal.SIGINT)
            process.wait()


def _wait(port: int, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + START_PATIENCE_S
    ask = [_find("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    while subprocess.run(ask).returncode != 0:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("PostgreSQL does not start")
        time.sleep(0.05)
