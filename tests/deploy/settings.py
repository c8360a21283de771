"""What the server itself says of the settings that a file of deploy/ gives it."""

import re
import tempfile
from pathlib import Path

from harness.programs import foreign_variables, throng
from programs import run

UNITS_BYTES = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
UNITS_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def complaints(variables: dict[str, str]) -> str:
    """What `throng config check` has to say; nothing where all is well."""
    with tempfile.TemporaryDirectory() as nothing:
        # No file of whoever runs the tests.
        environment = {**foreign_variables(), "XDG_CONFIG_HOME": nothing, **variables}
        status, said = run(throng(), "config", "check", environment=environment)
    return "" if status == 0 else said


def throng_variables(text: str) -> set[str]:
    """The names of ours in a text, comments and all; `THRONG_…` is any of them."""
    return set(re.findall(r"\bTHRONG_[A-Z_]*[A-Z]\b", text))


def bytes_of(size: str) -> int:
    """A size as the server writes it."""
    number, unit = re.fullmatch(r"([\d_]+)\s*(\w*)", size).groups()
    return int(number) * UNITS_BYTES[unit]


def seconds_of(time: str) -> float:
    """A time as the server writes it."""
    number, unit = re.fullmatch(r"([\d_]+)(\w+)", time).groups()
    return int(number) * UNITS_SECONDS[unit]


def default_of(key: str, table: str = "") -> str:
    """What `throng config default` says of a key."""
    status, text = run(throng(), "config", "default")
    assert status == 0, text
    section = text.partition(f"[{table}]\n")[2].partition("\n[")[0] if table else text
    return re.search(rf'^# {key} = "?([^"\n]*)', section, re.MULTILINE).group(1)


def files_with_settings(folder: Path) -> list[Path]:
    """Every file that could name a setting."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".json"]
