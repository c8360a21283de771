"""The programs of a test: two Throng servers, and a load balancer whose configuration is the one in deploy/.

Everything is on 127.0.0.0/8. The servers have addresses of their own and ports in common, as machines do."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEPLOY = ROOT / "deploy"
THRONG = Path(os.environ.get("THRONG_BIN", ROOT / "target" / "release" / "throng"))

BALANCER = "127.0.0.1"
SERVERS = ("127.0.0.11", "127.0.0.12")

# Longest wait for anything. Only something broken meets it.
DEADLINE_SECONDS = 30


def wait_until(what: str, is_so) -> None:
    """Asks again and again: other processes tell nobody that they changed."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(0.02)


def free_port(*addresses: str) -> int:
    """A port that is free on all of these."""
    while True:
        with socket.socket() as first:
            first.bind((addresses[0], 0))
            port = first.getsockname()[1]
            try:
                for address in addresses[1:]:
                    with socket.socket() as other:
                        other.bind((address, port))
                return port
            except OSError:
                continue


class Process:
    """A child with its log in a file; ended with the test."""

    def __init__(self, command: list, log: Path, environment: dict[str, str] | None = None):
        self.log = log
        with open(log, "ab") as output:
            self.child = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    def signal(self, number: signal.Signals) -> None:
        self.child.send_signal(number)

    def end(self) -> int:
        """Waits for the end; the exit code."""
        return self.child.wait(DEADLINE_SECONDS)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.child.kill()
        self.child.wait(DEADLINE_SECONDS)

    def assert_runs(self) -> None:
        if self.child.poll() is not None:
            raise AssertionError(f"it ended with {self.child.returncode}: {self.log.read_text()[-2000:]}")


class Server:
    """One `throng serve`, which may be started again."""

    def __init__(self, folder: Path, address: str, port: int, admin_port: int, settings: dict[str, str]):
        self.address, self.port, self.admin_port = address, port, admin_port
        self.folder = folder / address
        self.folder.mkdir(parents=True)
        own = {
            "THRONG_LISTEN": f"{address}:{port}",
            "THRONG_ADMIN_LISTEN": f"{address}:{admin_port}",
            "THRONG_DATA_DIR": str(self.folder),
            "THRONG_TRUSTED_PROXIES": BALANCER,
            "THRONG_SHARDS": "2",
        }
        foreign = {name: value for name, value in os.environ.items() if not name.startswith("THRONG_")}
        self.environment = {**foreign, **own, **settings}
        self.start()

    def start(self) -> None:
        self.process = Process([THRONG, "serve"], self.folder / "throng.log", self.environment)
        wait_until(f"{self.address} is ready", self.is_ready)

    def is_ready(self) -> bool:
        self.process.assert_runs()
        return self.readiness() == 200

    def readiness(self) -> int | None:
        """What `/readyz` says; nothing once the server is gone."""
        try:
            with self._ask("/readyz") as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def members(self) -> dict[str, int]:
        """Topics with their members."""
        token = (self.folder / "admin-token").read_text().strip()
        with self._ask("/api/topics?limit=1000", {"Authorization": f"Bearer {token}"}) as answer:
            return {entry["topic"]: entry["members"] for entry in json.load(answer)["topics"]}

    def metric(self, name: str) -> float:
        """One number of `/metrics`, by its name with its labels."""
        with self._ask("/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return next(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name} "))

    def _ask(self, path: str, headers: dict[str, str] | None = None):
        request = urllib.request.Request(f"http://{self.address}:{self.admin_port}{path}", headers=headers or {})
        return urllib.request.urlopen(request, timeout=DEADLINE_SECONDS)


class Balancer:
    """HAProxy or nginx with a configuration of deploy/, its addresses replaced."""

    def __init__(self, folder: Path, configuration: Path, servers: list[Server]):
        self.port = free_port(BALANCER)
        folder.mkdir(parents=True)
        text = (DEPLOY / configuration).read_text()
        self.program = "haproxy" if configuration.suffix == ".cfg" else "nginx"
        path = folder / configuration.name
        path.write_text(self._with_addresses(text, servers, folder))
        self.process = Process(self._command(path, folder), folder / f"{self.program}.log")
        wait_until(f"{self.program} listens", self._listens)

    def _with_addresses(self, text: str, servers: list[Server], folder: Path) -> str:
        replaced = {
            "10.0.0.11:4000": f"{servers[0].address}:{servers[0].port}",
            "10.0.0.12:4000": f"{servers[1].address}:{servers[1].port}",
        }
        if self.program == "haproxy":
            replaced["bind :80"] = f"bind {BALANCER}:{self.port}"
            replaced["port 4001"] = f"port {servers[0].admin_port}"
            replaced["maxconn 100000"] = "maxconn 1000"
        else:
            replaced["listen 80;"] = f"listen {BALANCER}:{self.port};"
            replaced["worker_rlimit_nofile 200000;"] = f"pid {folder}/nginx.pid;"
            replaced["worker_connections 100000;"] = "worker_connections 400;"
            kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            own = "".join(f"    {kind}_temp_path {folder}/{kind};\n" for kind in kinds)
            replaced["http {\n"] = f"http {{\n{own}"
        for shipped, here in replaced.items():
            if shipped not in text:
                raise AssertionError(f"the shipped configuration has no {shipped!r}")
            text = text.replace(shipped, here)
        return text

    def _command(self, path: Path, folder: Path) -> list:
        if self.program == "haproxy":
            return [find("haproxy"), "-db", "-f", path]
        return [find("nginx"), "-p", folder, "-e", "stderr", "-c", path, "-g", "daemon off;"]

    def _listens(self) -> bool:
        self.process.assert_runs()
        try:
            socket.create_connection((BALANCER, self.port), DEADLINE_SECONDS).close()
            return True
        except OSError:
            return False

    def end(self) -> None:
        """At once for both; nginx's master ends its workers."""
        self.process.signal(signal.SIGTERM)
        try:
            self.process.end()
        except subprocess.TimeoutExpired:
            self.process.kill()


def find(program: str) -> str:
    """Debian's place for servers is not on everybody's path."""
    found = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if found is None:
        raise AssertionError(f"the program `{program}` is missing (`make deps` installs it)")
    return found
