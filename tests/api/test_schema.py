"""Requests that nobody wrote, made from the OpenAPI document by schemathesis."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from furniture import Furniture
from harness.environment import environment
from harness.programs import foreign_variables
from server import Api, running

HERE = Path(__file__).resolve().parent
SECONDS_MAX = int(os.environ.get("API_SECONDS") or 90)
# Share of the operations that must have succeeded at least once.
REACHED_MIN = 0.9
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


class Schema(unittest.TestCase):
    def test_no_request_brings_the_server_down_and_most_operations_succeed(self) -> None:
        interpreter = environment("api-tests", HERE / "requirements.txt") / "python"
        with running() as server, tempfile.TemporaryDirectory(prefix="throng-api-") as folder:
            furniture = Furniture(server)
            server.operate("PUT", "/communities/default/people/eve", {"name": "Eve"})
            ended, answers = attack(interpreter, server, furniture, Path(folder))
            self.assertEqual(ended.returncode, 0, ended.stdout[-20_000:])
            statuses: dict[str, set[int]] = {}
            for answer in answers:
                statuses.setdefault(answer["operation"], set()).add(answer["status"])
            self.assertFalse([answer for answer in answers if answer["status"] >= 500])
            operations = documented(server)
            reached = {name for name in operations if any(status < 300 for status in statuses.get(name, ()))}
            share = len(reached) / len(operations)
            print(f"api: {len(answers)} requests, {len(reached)} of {len(operations)} operations succeeded")
            self.assertGreaterEqual(share, REACHED_MIN, f"never 2xx: {sorted(operations - reached)}")


def attack(
    interpreter: Path, server: Api, furniture: Furniture, folder: Path
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Lets schemathesis ask the administration's address, where every operation is, as the operator."""
    answers = folder / "answers.ndjson"
    answers.touch()
    command = [
        interpreter, "-m", "schemathesis.cli", "run", f"{server.admin}/api/v1/openapi.json",
        "--header", f"Authorization: Bearer {server.token}", "--checks", CHECKS, "--max-time", str(SECONDS_MAX),
        "--phases", "examples,coverage,fuzzing", "--max-examples", "20", "--seed", "1", "--continue-on-failure",
        "--no-color", "--warnings", "off",
    ]
    variables = {
        **foreign_variables(),
        "API_IDS": json.dumps(furniture.ids),
        "API_ANSWERS": str(answers),
        "SCHEMATHESIS_HOOKS": "hooks",
        "PYTHONPATH": str(HERE),
    }
    ended = subprocess.run(
        command, cwd=folder, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=SECONDS_MAX * 10 + 300,
    )
    return ended, [json.loads(line) for line in answers.read_text().splitlines()]


def documented(server: Api) -> set[str]:
    """The ids of all operations."""
    document = server.operate("GET", "/openapi.json")
    return {operation["operationId"] for methods in document["paths"].values() for operation in methods.values()}


if __name__ == "__main__":
    unittest.main()
