"""How the programs that the tests of deploy/ need are run, and ended."""

import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from harness.environment import environment
from harness.programs import DEADLINE_SECONDS, ROOT

DEPLOY = ROOT / "deploy"


def checkers() -> Path:
    """The folder of the checkers that come from PyPI."""
    return environment("deploy-tests", Path(__file__).resolve().parent / "requirements.txt")


def run(*command: str | Path, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Runs a checker; gives its exit status and all that it said."""
    ended = subprocess.run(
        [str(word) for word in command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    return ended.returncode, ended.stdout


def get(url: str) -> bytes | None:
    """The body of a 200, or `None`: the program may still be starting."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read()
    except (urllib.error.URLError, OSError):
        return None
