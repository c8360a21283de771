"""The Python environment of schemathesis: built once, cached; gives its interpreter."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


def python() -> Path:
    """The interpreter of an environment with exactly what `requirements.txt` names."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = cache / "throng" / "api-tests"
    interpreter = root / "bin" / "python"
    stamp = root / "complete"
    wanted = hashlib.sha256(f"{sys.version}\n".encode() + REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        # The stamp is written last: an environment without it was cut off half-way.
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(root)], check=True, stdout=sys.stderr)
        pip = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "-r", REQUIREMENTS], check=True, stdout=sys.stderr)
        stamp.write_text(wanted)
    return interpreter
