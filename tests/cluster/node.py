"""A server that is one of several."""

import json
import urllib.error
import urllib.request
from typing import Any

from harness.programs import DEADLINE_SECONDS, wait_until
from harness.server import Server


class NotDone(Exception):
    """The API did not do it; the code says why."""

    def __init__(self, code: str):
        super().__init__(code)
        self.code = code


class Node(Server):
    """Says in its readiness how it stands with the bus."""

    def wait_for_bus(self) -> None:
        wait_until("the bus is up", lambda: "bus: up since " in self.readiness()[1])

    def wait_until_bus_is_away(self, because: str = "") -> str:
        """Returns what `/readyz` says."""
        wait_until(f"the bus is away because {because}", lambda: self._is_away(because))
        return self.readiness()[1]

    def operate(self, method: str, path: str, body: Any = None) -> Any:
        """Has something done in the community `default`, as its operator; what the API answers."""
        url = f"http://{self.address}:{self.admin_port}/api/v1/communities/default{path}"
        headers = {**self._token(), "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise NotDone(error.read().decode()) from error
        return json.loads(text) if text else None

    def _is_away(self, because: str) -> bool:
        said = self.readiness()[1]
        return "bus: away since " in said and because in said.partition(" because ")[2]
