"""Runs the program that counts bytes and allocations (`bench/gauge`)."""

import json
import subprocess
from pathlib import Path

from runner.budgets import CannotMeasure

PATIENCE_S = 300


def figures(gauge: Path, group: str, *arguments: str) -> dict[str, float]:
    """What it says of one group, by the names of the budgets."""
    return json.loads(output_of([gauge, group, *arguments]))


def output_of(command: list) -> str:
    """What a program prints; what it complains of is passed on as it comes."""
    command = [str(part) for part in command]
    try:
        finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE_S)
    except FileNotFoundError as error:
        raise CannotMeasure(f"no {command[0]}: `make bench-check` builds it, and .ci/deps installs its dependencies") from error
    except subprocess.TimeoutExpired as error:
        raise CannotMeasure(f"`{' '.join(command)}` took longer than {PATIENCE_S} s") from error
    if finished.returncode != 0:
        raise CannotMeasure(f"`{' '.join(command)}` failed with {finished.returncode}")
    return finished.stdout
