"""The Python 2.7 environment in which `wstest` runs: found, built once, cached.

The test-suite runs on CPython 2.7 only, and Debian 12 has no package of it: the interpreter comes
from `PYTHON27`, from the PATH or from pyenv. This module never downloads an interpreter.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness.environment import fingerprint, kept

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"

# The last virtualenv whose seed packages still include a pip that runs on Python 2.7.
VIRTUALENV = "virtualenv==20.15.1"


class NoInterpreter(Exception):
    """No CPython 2.7 was found."""

    def __str__(self):
        return (
            "the Autobahn test-suite needs CPython 2.7 (2.7.18 is what is tested): "
            "`pyenv install 2.7.18`, or name one by PYTHON27=/path/to/python2.7"
        )


def wstest_python():
    """The path of a Python 2.7 that has the test-suite, building its environment where it is missing."""
    interpreter = find_interpreter()
    wanted = fingerprint(REQUIREMENTS, interpreter, VIRTUALENV)
    return kept("autobahn", wanted, lambda root: build(interpreter, root)) / "python"


def find_interpreter():
    """The first candidate that runs and says it is CPython 2.7 (a pyenv shim may exist and refuse)."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    named = os.environ.get("PYTHON27")
    installed = [shutil.which("python2.7"), *sorted(pyenv.glob("versions/2.7.*/bin/python2.7"))]
    candidates = [named] if named else installed
    for candidate in filter(None, candidates):
        if is_cpython27(candidate):
            return str(candidate)
    raise NoInterpreter


def is_cpython27(candidate):
    question = "import platform; print(platform.python_implementation() + platform.python_version()[:3])"
    try:
        answer = subprocess.run([str(candidate), "-c", question], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return answer.stdout.strip() == "CPython2.7"


def build(interpreter, root):
    print(f"autobahn: building a Python 2.7 environment in {root}", flush=True)
    seed = root.parent / "autobahn-virtualenv"
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(seed)], check=True)
    subprocess.run([seed / "bin" / "python", "-m", "pip", "install", *quiet, VIRTUALENV], check=True)
    subprocess.run([seed / "bin" / "virtualenv", "--quiet", "--python", interpreter, str(root)], check=True)
    pip = [
        root / "bin" / "python",
        "-m",
        "pip",
        "install",
        *quiet,
        "--no-python-version-warning",
        "--no-deps",
    ]
    subprocess.run([*pip, "-r", REQUIREMENTS], check=True)


if __name__ == "__main__":
    try:
        print(find_interpreter() if sys.argv[1:] == ["--find"] else wstest_python())
    except NoInterpreter as missing:
        sys.exit(f"autobahn: {missing}")
