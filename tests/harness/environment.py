"""Python environments of programs from PyPI: each built once, and cached outside of the clone."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path


def environment(name: str, requirements: Path) -> Path:
    """The folder of the programs of an environment with exactly what `requirements` names."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = cache / "throng" / name
    programs = root / "bin"
    stamp = root / "complete"
    wanted = hashlib.sha256(f"{sys.version}\n".encode() + requirements.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        # The stamp is written last: an environment without it was cut off half-way.
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(root)], check=True, stdout=sys.stderr)
        pip = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "-r", requirements], check=True, stdout=sys.stderr)
        stamp.write_text(wanted)
    return programs
