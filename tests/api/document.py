"""What the OpenAPI document says of each operation, and who may call it."""

from dataclasses import dataclass

from server import Api


@dataclass(frozen=True)
class Operation:
    """One line of the table."""

    name: str
    method: str
    path: str
    # As `x-callers` has them: the kind of caller, with a scope behind a key.
    callers: tuple[str, ...]

    def may_call(self, kind: str) -> bool:
        """Whether callers of this kind may, whatever their scopes and roles."""
        return any(kind == caller.split(":")[0] for caller in self.callers)


def operations(server: Api) -> list[Operation]:
    """All of them."""
    document = server.operate("GET", "/openapi.json")
    return [
        Operation(operation["operationId"], method.upper(), path.removeprefix("/api/v1"), tuple(operation["x-callers"]))
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
