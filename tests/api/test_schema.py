"""Requests that nobody wrote, made from the OpenAPI document by schemathesis: as the operator, with a community's key, and
with a person's token."""

import json
import os
import subprocess
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from document import operations
from furniture import Furniture
from harness.environment import environment
from harness.programs import foreign_variables
from harness.rest import ask
from people import token
from server import Api, running

HERE = Path(__file__).resolve().parent
# For each caller.
SECONDS_MAX = int(os.environ.get("API_SECONDS") or 45)
# Share of the operations that must have succeeded at least once, of those that a caller may call by the document;
# test_callers.py shows that it is refused the others.
REACHED_MIN = 0.9
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
# The operator tries every rule of the document. The others are to come through to each operation; they may ask 50 times a
# second for ever.
THOROUGHLY = ["--phases", "examples,coverage,fuzzing", "--max-examples", "20"]
QUICKLY = ["--phases", "examples,fuzzing", "--mode", "positive", "--max-examples", "10", "--rate-limit", "45/s"]

DEFAULT = "/communities/default"
# Who shows a key or a token to communities where it does not count is soon told to wait.
CERTAIN = ["community"]


@dataclass
class Caller:
    """Who asks, and what they cannot be asked for."""

    base: str
    bearer: str
    # As `x-callers` of an operation names them; a scope stands behind it.
    name: str
    # What exists, by the names of parameters; and what an operation is asked about instead.
    known: dict[str, Any]
    instead: dict[str, dict[str, Any]]
    # For operations, bodies that name what exists.
    bodies: dict[str, Any]
    # How schemathesis is to go about it.
    options: list[str]
    # Parameters that are never made up, and headers that are never sent.
    certain: list[str] = field(default_factory=list)
    unsent: list[str] = field(default_factory=list)
    # Operations that schemathesis leaves out, as they would end what it asks with.
    without: tuple[str, ...] = ()
    # What is asked last, once: an operation, and with what credentials, a method, a path and a body.
    last: tuple[tuple[str, str, str, str, Any], ...] = ()


class Schema(unittest.TestCase):
    def test_the_operator_brings_nothing_down_and_most_operations_succeed(self) -> None:
        with running() as server:
            furniture = Furniture(server)
            caller = Caller(
                base=server.admin, bearer=server.token, name="operator", options=THOROUGHLY,
                known={**furniture.known, "person": "ann"}, instead=furniture.spent, bodies=furniture.bodies,
            )
            self.attack(server, caller)

    def test_a_key_of_a_community_brings_nothing_down_and_most_of_its_operations_succeed(self) -> None:
        with running() as server:
            furniture = Furniture(server)
            caller = Caller(
                base=server.public, bearer=furniture.key, name="key", options=QUICKLY,
                certain=CERTAIN, unsent=["throng-person"],
                known={**furniture.known, "person": "ann"}, instead=furniture.spent, bodies=furniture.bodies,
            )
            self.attack(server, caller)

    def test_a_person_brings_nothing_down_and_most_of_their_operations_succeed(self) -> None:
        with running() as server:
            furniture = Furniture(server)
            said = furniture.admit("olga")
            shown = token("olga", roles=["owner"])
            guest = ask(server.public, "POST", f"{DEFAULT}/guests", "", {})["token"]
            caller = Caller(
                base=server.public, bearer=shown, name="person", options=QUICKLY,
                certain=CERTAIN, unsent=["throng-person"],
                known={**furniture.known, "person": "olga", "seq": said},
                instead={**furniture.spent, "put_member": {"person": "bob"}}, bodies=furniture.bodies,
                without=("erase_person", "welcome_guest", "put_authorizer", "read_authorizer", "delete_authorizer"),
                last=(
                    # A person's newer token is a guest's.
                    ("welcome_guest", guest, "POST", "/guests", {}),
                    # Whose site is not there: what it would be asked about is 503 from then on.
                    ("put_authorizer", shown, "PUT", "/authorizer", {"url": "https://example.org/may", "actions": ["send"]}),
                    ("read_authorizer", shown, "GET", "/authorizer", None),
                    ("delete_authorizer", shown, "DELETE", "/authorizer", None),
                    # Her token is revoked by it.
                    ("erase_person", shown, "DELETE", "/people/olga", None),
                ),
            )
            self.attack(server, caller)

    def attack(self, server: Api, caller: Caller) -> None:
        """Lets schemathesis ask; whatever is answered is as the document says, and most operations succeed."""
        documented = {one.name for one in operations(server) if one.may_call(caller.name)}
        self.assertTrue(documented)
        with tempfile.TemporaryDirectory(prefix="throng-api-") as folder:
            ended, answers = requests_of(caller, documented - set(caller.without), Path(folder))
        self.assertEqual(ended.returncode, 0, ended.stdout[-20_000:])
        self.assertFalse([answer for answer in answers if answer["status"] >= 500])
        reached = {answer["operation"] for answer in answers if answer["status"] < 300}
        for name, bearer, method, path, body in caller.last:
            ask(caller.base, method, DEFAULT + path, bearer, body)
            reached.add(name)
        share = len(reached & documented) / len(documented)
        print(f"api, {caller.name}: {len(answers)} requests, {len(reached)} of {len(documented)} operations succeeded")
        self.assertGreaterEqual(share, REACHED_MIN, f"never 2xx: {missed(documented - reached, answers)}")


def missed(operations: set[str], answers: list[dict[str, Any]]) -> dict[str, list[int]]:
    """How these operations were answered."""
    return {name: sorted({one["status"] for one in answers if one["operation"] == name}) for name in sorted(operations)}


def requests_of(
    caller: Caller, operations: set[str], folder: Path
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Has schemathesis make requests of these operations."""
    answers = folder / "answers.ndjson"
    answers.touch()
    command = [
        environment("api-tests", HERE / "requirements.txt") / "python", "-m", "schemathesis.cli",
        "run", f"{caller.base}/api/v1/openapi.json", "--header", f"Authorization: Bearer {caller.bearer}",
        "--include-operation-id-regex", f"^({'|'.join(sorted(operations))})$", "--checks", CHECKS,
        "--max-time", str(SECONDS_MAX), "--seed", "1", "--continue-on-failure", "--no-color", "--warnings", "off",
        *caller.options,
    ]
    variables = {
        **foreign_variables(),
        "API_KNOWN": json.dumps(caller.known),
        "API_INSTEAD": json.dumps(caller.instead),
        "API_BODIES": json.dumps(caller.bodies),
        "API_CERTAIN": json.dumps(caller.certain),
        "API_UNSENT": json.dumps(caller.unsent),
        "API_ANSWERS": str(answers),
        "SCHEMATHESIS_HOOKS": "hooks",
        "PYTHONPATH": str(HERE),
    }
    ended = subprocess.run(
        command, cwd=folder, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=SECONDS_MAX * 10 + 300,
    )
    return ended, [json.loads(line) for line in answers.read_text().splitlines()]


if __name__ == "__main__":
    unittest.main()
