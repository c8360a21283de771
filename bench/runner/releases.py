"""Results filed by version: `results/vVERSION/`."""

import re
from pathlib import Path

NAME = re.compile(r"v(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")


def folder_of(version: str, results: Path) -> Path:
    return results / f"v{version}"


def last_before(version: str, results: Path) -> Path | None:
    """The folder of the greatest version below this one that has a result of the capacity benchmarks."""
    filed = [path for path in results.glob("v*") if NAME.fullmatch(path.name) and (path / "capacity.json").exists()]
    older = [path for path in filed if order(path.name) < order(f"v{version}")]
    return max(older, key=lambda path: order(path.name), default=None)


def order(name: str) -> tuple:
    """By Semantic Versioning, section 11: a pre-release comes before its release; its parts by number or by text."""
    match = NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} does not have the form v1.2.3 or v1.2.3-rc.1")
    *numbers, pre = match.groups()
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split(".")] if pre else []
    return (*map(int, numbers), not pre, parts)
