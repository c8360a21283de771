"""What one measurement may fail with, so that it is noted as its failure and the next one follows."""

import http.client
import subprocess
from pathlib import Path

# A report that is no JSON is a ValueError, one that lacks something a KeyError; who speaks of a server or a player that
# is lost raises a RuntimeError of its own.
FAILURES = (OSError, RuntimeError, ValueError, KeyError, subprocess.SubprocessError, http.client.HTTPException)


def told(error: Exception) -> str:
    """In words for a report, without the paths of this machine."""
    match error:
        case subprocess.CalledProcessError():
            return f"{Path(error.cmd[0]).name} ended with {error.returncode}"
        case subprocess.TimeoutExpired():
            return f"{Path(error.cmd[0]).name} did not end within {error.timeout:.0f} s"
        case KeyError():
            return f"a report without {error}"
        case OSError():
            return error.strerror or str(error) or type(error).__name__
        case RuntimeError():
            return str(error)
        case _:
            return f"{type(error).__name__}: {error}"
