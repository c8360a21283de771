"""A Throng under test, and what its administration says."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from .programs import DEADLINE_SECONDS, HOST, Process, foreign_variables, free_port, throng, wait_until
from .rest import ask


class Server:
    """One `throng serve`; may be started again. As a context it is ended behind it."""

    # What the program is started by.
    wrapper: list[str] = []

    def __init__(
        self,
        folder: Path,
        name: str,
        settings: dict[str, str],
        address: str = HOST,
        port: int | None = None,
        admin_port: int | None = None,
    ):
        self.address = address
        self.port, self.admin_port = port or free_port(address), admin_port or free_port(address)
        self.folder = folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        own = {
            "THRONG_LISTEN": f"{address}:{self.port}",
            "THRONG_ADMIN_LISTEN": f"{address}:{self.admin_port}",
            "THRONG_DATA_DIR": str(self.folder),
            "THRONG_SHARDS": "2",
        }
        self.environment = {**foreign_variables(), **own, **settings}
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.end()

    def start(self) -> None:
        self.process = Process([*self.wrapper, throng(), "serve"], self.folder / "throng.log", self.environment)
        try:
            wait_until(f"{self.folder.name} is ready", self._is_ready)
        except BaseException:
            self.process.kill()
            raise

    @property
    def admin_address(self) -> str:
        return f"{self.address}:{self.admin_port}"

    @property
    def token(self) -> str:
        """What its operator shows."""
        return (self.folder / "admin-token").read_text().strip()

    def _is_ready(self) -> bool:
        self.process.assert_runs()
        return self.readiness()[0] == 200

    def readiness(self) -> tuple[int | None, str]:
        """Status and text of `/readyz`; nothing while nobody listens."""
        try:
            with self._ask("/readyz") as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return None, ""

    def metric(self, name: str) -> float:
        """One number of `/metrics`, by its name with its labels."""
        return next(self._numbers(f"{name} "))

    def total(self, name: str) -> float:
        """The sum of a metric over its labels; it must be there."""
        numbers = list(self._numbers(f"{name} ", f"{name}{{"))
        assert numbers, f"there is no {name}"
        return sum(numbers)

    def _numbers(self, *beginnings: str) -> Iterator[float]:
        """Those of the lines of `/metrics` that begin so."""
        with self._ask("/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return (float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(beginnings))

    def members(self) -> dict[str, int]:
        """Topics with their members."""
        with self._ask("/api/topics?limit=1000", self._authorization()) as answer:
            return {entry["topic"]: entry["members"] for entry in json.load(answer)["topics"]}

    def disconnect(self, socket_id: str) -> int:
        """Has the sockets with this id closed; the status."""
        return self._tell(f"/api/sockets/{socket_id}/disconnect", None)

    def publish(self, topic: str, event: str, payload: dict) -> int:
        """Publishes to a topic; the status."""
        return self._tell(f"/api/topics/{topic}/messages", {"event": event, "payload": payload})

    def operate(self, method: str, path: str, body: Any = None) -> Any:
        """What the API answers its operator."""
        return ask(f"http://{self.admin_address}", method, path, self.token, body)

    def _tell(self, path: str, body: dict | None) -> int:
        try:
            with self._ask(path, self._authorization(), json.dumps(body).encode()) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def log(self) -> str:
        return self.process.log.read_text()

    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def _ask(self, path: str, headers: dict[str, str] | None = None, body: bytes | None = None):
        """With a body a POST."""
        request = urllib.request.Request(f"http://{self.admin_address}{path}", body, headers or {})
        return urllib.request.urlopen(request, timeout=DEADLINE_SECONDS)
