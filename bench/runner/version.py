"""Which state of the project is measured."""

import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def of_the_workspace() -> str:
    """The version that all packages share (Cargo.toml)."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def commit() -> str:
    """The commit, and whether there are changes beside it; `unknown` outside a repository. To read."""
    name, changed = facts()["commit"], facts()["changed"]
    return f"{name[:12]}{' with changes' if changed else ''}" if name else "unknown"


def facts() -> dict:
    """The workspace's version, the commit, and whether files differ from it. For result files."""
    try:
        name, changes = _git("rev-parse", "HEAD"), _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return {"throng": of_the_workspace(), "commit": None, "changed": None}
    return {"throng": of_the_workspace(), "commit": name, "changed": bool(changes)}


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
