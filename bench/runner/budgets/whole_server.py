"""Counts the user-space instructions that a whole server needs for each delivery of a broadcast: Throng and the floor.

Each server runs under callgrind twice, with few and with many broadcasts to the same receivers. The difference is what the
deliveries cost, without start and end. What the kernel does is not counted. How often a server wakes up depends on the
machine's load, and that is in it.
"""

import shlex
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runner import servers
from runner.budgets import CannotMeasure, require_built
from runner.budgets.callgrind import instructions_in
from runner.driver import Driver
from runner.scenarios import Broadcast


@dataclass(frozen=True)
class Plan:
    receivers: int
    # Numbers of broadcasts.
    few: int
    many: int


FULL, SMOKE = Plan(10_000, few=2, many=42), Plan(50, few=2, many=102)


def figures(bin_dir: Path, throng: Path, smoke: bool) -> dict[str, float]:
    """By the names of the budgets."""
    require_built(bin_dir, throng)
    plan, driver = SMOKE if smoke else FULL, Driver(bin_dir / "bench-load")
    return figures_of(
        plan,
        floors=lambda rounds: _instructions(servers.Floor, bin_dir / "floor", plan.receivers, rounds, driver),
        ours=lambda rounds: _instructions(servers.Throng, throng, plan.receivers, rounds, driver),
    )


def figures_of(plan: Plan, floors: Callable[[int], int], ours: Callable[[int], int]) -> dict[str, float]:
    """From the instructions of two servers that broadcast as often as they are asked to."""
    floors, ours = _per_delivery(plan, floors), _per_delivery(plan, ours)
    return {
        "server_instructions_per_delivery": round(ours, 1),
        "server_instructions_per_delivery_over_floor": round(ours / floors, 3),
    }


def _per_delivery(plan: Plan, instructions: Callable[[int], int]) -> float:
    few, many = instructions(plan.few), instructions(plan.many)
    if many <= few:
        counted = f"callgrind counted {many} instructions with {plan.many} broadcasts, and {few} with {plan.few}"
        raise CannotMeasure(counted)
    return (many - few) / ((plan.many - plan.few) * plan.receivers)


def _instructions(
    server: Callable[[Path], object], binary: Path, receivers: int, rounds: int, driver: Driver
) -> int:
    """Everything that the server executes from its start to its end."""
    print(f"{binary.name} under callgrind, {rounds} broadcasts to {receivers:,} …", file=sys.stderr, flush=True)
    scenario = Broadcast("broadcast, counted", receivers, rounds, single_shard=True)
    with tempfile.TemporaryDirectory(prefix="callgrind-") as folder:
        out, counted = Path(folder) / "counted", Path(folder) / binary.name
        command = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}", str(binary)]
        counted.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        counted.chmod(0o755)
        with server(counted).start(scenario) as process:
            measured = scenario.measure(process, driver)
        if measured.faults:
            raise CannotMeasure(f"wrong counts under callgrind: {'; '.join(measured.faults)}")
        if not out.exists():
            raise CannotMeasure(f"callgrind wrote nothing: {binary.name} did not end by itself")
        return instructions_in(out.read_text())
