"""A server that is one of several."""

from typing import Any

from harness.programs import wait_until
from harness.server import Server


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
        return super().operate(method, f"/communities/default{path}", body)

    def _is_away(self, because: str) -> bool:
        said = self.readiness()[1]
        return "bus: away since " in said and because in said.partition(" because ")[2]
