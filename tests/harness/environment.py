"""Python environments of programs from PyPI: each made once, and kept outside of the clone, so that the next clone finds
it.

    python3 -m harness.environment NAME REQUIREMENTS      prints the interpreter
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def environment(name: str, requirements: Path) -> Path:
    """The folder of the programs of an environment with exactly what `requirements` names."""
    return kept(name, fingerprint(requirements, sys.version), lambda root: _make(root, requirements))


def kept(name: str, wanted: str, make: Callable[[Path], None]) -> Path:
    """The folder of the programs of the environment of that name; `make` makes it in a folder, where it is not yet what is
    wanted."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "throng" / name
    stamp = root / "complete"
    if not stamp.is_file() or stamp.read_text() != wanted:
        # The stamp is written last: an environment without it was cut off half-way.
        shutil.rmtree(root, ignore_errors=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        make(root)
        stamp.write_text(wanted)
    return root / "bin"


def fingerprint(requirements: Path, *tools: str) -> str:
    """Changes with the requirements and with what makes the environment."""
    return hashlib.sha256("".join(f"{tool}\n" for tool in tools).encode() + requirements.read_bytes()).hexdigest()


def _make(root: Path, requirements: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(root)], check=True, stdout=sys.stderr)
    pip = [root / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "-r", requirements], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    print(environment(sys.argv[1], Path(sys.argv[2])) / "python")
