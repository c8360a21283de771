"""A PostgreSQL server of one's own, in a folder that goes with it."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from .programs import HOST, Missing, Process, free_port, wait_until

# PostgreSQL refuses to run as root; this user is on every Debian.
NOBODY = 65534


class Postgres:
    """One server with an empty database; ended by `end`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="throng-postgres-"))
        self.folder.chmod(0o755)
        self.user = NOBODY if os.geteuid() == 0 else None
        data = self.folder / "data"
        data.mkdir()
        if self.user is not None:
            os.chown(data, self.user, self.user)
        making = [program("initdb"), "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=throng"]
        subprocess.run(
            [*making, "--no-sync", "--pgdata", data],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            user=self.user,
            group=self.user,
        )
        self.port = free_port()
        settings = {"listen_addresses": HOST, "unix_socket_directories": "", "max_connections": "50"}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command = [program("postgres"), "-D", data, "-p", self.port, *options]
        self.process = Process([str(word) for word in command], self.folder / "log", user=self.user)
        wait_until("PostgreSQL takes connections", self._is_ready)

    @property
    def url(self) -> str:
        return f"postgres://throng@{HOST}:{self.port}/postgres"

    def end(self) -> None:
        """At once, whoever is connected."""
        self.process.signal(signal.SIGQUIT)
        self.process.wait()
        shutil.rmtree(self.folder)

    def _is_ready(self) -> bool:
        self.process.assert_runs()
        asked = [program("pg_isready"), "--quiet", "--host", HOST, "--port", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0


def program(name: str) -> str:
    """Where Debian has PostgreSQL's programs, or where they are on the path."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise Missing(f"{name} is missing: `make deps` installs Debian's package `postgresql`")
    return found
