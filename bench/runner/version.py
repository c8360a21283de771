"""Which state of the project is measured."""

import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def of_the_workspace() -> str:
    """The version that all packages share (Cargo.toml)."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def commit() -> str:
    """The commit, and whether there are changes beside it; `unknown` outside a repository."""
    try:
        name = _git("rev-parse", "--short=12", "HEAD")
        return f"{name} with changes" if _git("status", "--porcelain", "--untracked-files=no") else name
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
