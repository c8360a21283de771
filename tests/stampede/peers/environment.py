"""The Python environment of the echo server that uses `websockets`: built once, cached; prints its interpreter."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


def main():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = cache / "throng" / "stampede-peers"
    python = root / "bin" / "python"
    stamp = root / "complete"
    wanted = hashlib.sha256(f"{sys.version}\n".encode() + REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        # The stamp is written last: an environment without it was cut off half-way.
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(root)], check=True, stdout=sys.stderr)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
        subprocess.run([*pip, "--no-deps", "-r", REQUIREMENTS], check=True, stdout=sys.stderr)
        stamp.write_text(wanted)
    print(python)


if __name__ == "__main__":
    main()
