"""Who may call what, as the OpenAPI document says it: who may not is refused each time, whatever they name."""

import unittest
import urllib.error
import urllib.request

from document import Operation, operations
from furniture import Furniture
from harness.programs import DEADLINE_SECONDS
from people import token
from server import running

# Of a path: what exists, and what does not.
REST = {"person": "olga", "emoji": "x", "kind": "ban"}
MADE_UP = {
    "conversation": "room:nowhere", "person": "nobody", "other": "nobody", "seq": "99", "emoji": "x", "kind": "mute",
    **dict.fromkeys(("message", "report", "invitation", "key", "webhook"), "01890a5d-ac96-774b-bcce-b302099a8057"),
}  # fmt: skip


class Callers(unittest.TestCase):
    def test_who_may_not_call_an_operation_is_refused_each_time(self) -> None:
        with running() as server:
            furniture = Furniture(server)
            furniture.admit("olga")
            words = ["key", "create", "default", "--name", "lists", "--scopes", "list", "--lasts", "1d"]
            lists = server.command(*words).splitlines()[0]
            table = operations(server)
            there, made_up = {**furniture.known, **REST}, {**MADE_UP, "community": "default"}
            for kind, bearer, status, may, tries in (
                ("a key", furniture.key, 403, lambda one: one.may_call("key"), (there, made_up)),
                # Whose kind may call an operation may lack its scope.
                ("a key that lists", lists, 403, lambda one: {"key:list", "anybody"} & set(one.callers), (there, made_up)),
                ("a person", token("olga", roles=["owner"]), 403, lambda one: one.may_call("person"), (there, made_up)),
                # Who asks a hundred times without credentials is told to wait.
                ("nobody", "", 401, lambda one: one.may_call("anybody"), (there,)),
            ):
                refused = [one for one in table if not may(one)]
                self.assertTrue(refused, kind)
                for one in refused:
                    for ids in tries:
                        with self.subTest(caller=kind, operation=one.name):
                            self.assertEqual(answered(server.public, one, ids, bearer), status)


def answered(base: str, operation: Operation, ids: dict, bearer: str) -> int:
    """The status."""
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    path = operation.path.format_map(ids)
    request = urllib.request.Request(f"{base}/api/v1{path}", None, headers, method=operation.method)
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


if __name__ == "__main__":
    unittest.main()
