"""A PostgreSQL server of one's own, in a folder that goes with it."""

import os
import shutil
import subprocess
from pathlib import Path
from signal import SIGQUIT

from .programs import DEADLINE_SECONDS, HOST, Missing, Process, free_port, wait_until

# Where Debian has PostgreSQL's programs, by version; and the oldest that the store takes.
FOLDER = Path("/usr/lib/postgresql")
OLDEST = 15
# PostgreSQL refuses to run as root; there is this user on every Debian.
NOBODY = 65534


class Postgres:
    """May be killed and started again. No machine fails here: that the kernel has what was written is enough."""

    def __init__(self, folder: Path):
        self.copies = 0
        self.port = free_port()
        self.folder = folder / f"postgres-{self.port}"
        self.folder.mkdir()
        self.data = self.folder / "data"
        self.data.mkdir()
        if os.geteuid() == 0:
            # Whatever is above must be passable for who owns it.
            folder.chmod(0o755)
            shutil.chown(self.data, NOBODY, NOBODY)
        made = [find("initdb"), "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=throng", "--no-sync"]
        made += ["--pgdata", str(self.data)]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=DEADLINE_SECONDS, **as_somebody())
        self.start()

    def start(self) -> None:
        settings = [f"listen_addresses={HOST}", "unix_socket_directories=", "max_connections=50", "fsync=off"]
        command = [find("postgres"), "-D", str(self.data), "-p", str(self.port)]
        command += [word for setting in settings for word in ("-c", setting)]
        self.process = Process(command, self.folder / "log", **as_somebody())
        wait_until("PostgreSQL takes connections", self._is_ready)

    def _is_ready(self) -> bool:
        self.process.assert_runs()
        asked = [find("pg_isready"), "--quiet", "--host", HOST, "--port", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def kill(self) -> None:
        """SIGQUIT is PostgreSQL's own crash: all of its processes end at once, and nothing is written any more."""
        self.process.signal(SIGQUIT)
        self.process.wait()

    def end(self) -> None:
        if self.process.is_running():
            self.kill()

    @property
    def url(self) -> str:
        return self._url_of("postgres")

    def _url_of(self, database: str) -> str:
        return f"postgres://throng@{HOST}:{self.port}/{database}"

    def copied(self) -> str:
        """The URL of a new database with all that is at `url`, where nobody may be connected."""
        self.copies += 1
        name = f"copy_{self.copies}"
        rows(self._url_of("template1"), f"CREATE DATABASE {name} TEMPLATE postgres")
        return self._url_of(name)


def rows(url: str, sql: str) -> list[tuple[str, ...]]:
    """What a database answers."""
    asked = [find("psql"), url, "--no-psqlrc", "--tuples-only", "--no-align", "--command", sql]
    answered = subprocess.run(asked, check=True, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    return [tuple(line.split("|")) for line in answered.stdout.splitlines()]


def find(program: str) -> str:
    """Where one of PostgreSQL's programs is, of the newest version that is there."""
    at = lambda path: int(path.parent.parent.name) if path.parent.parent.name.isdigit() else 0
    found = [path for path in FOLDER.glob(f"*/bin/{program}") if at(path) >= OLDEST]
    if found:
        return str(max(found, key=at))
    elsewhere = shutil.which(program)
    if elsewhere is None:
        raise Missing(f"{program} is missing: `make deps` installs Debian's package postgresql")
    return elsewhere


def as_somebody() -> dict:
    """How a child is started that must not be root."""
    return {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
