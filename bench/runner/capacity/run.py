"""A run of the capacity benchmarks, from what was asked for to the exit status."""

import dataclasses
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runner import kernel
from runner.capacity import plan, report, search
from runner.capacity.plan import Group, Search
from runner.capacity.report import Facts
from runner.capacity.search import Outcome
from runner.cgroup import NoLimit
from runner.servers import CONNECTIONS_PER_SHARD
from runner.termination import end_in_order

# What is known of searches when the program ends before them.
ENDED = "the program ended before this search"

SMOKE_RULES = search.Rules(repeats=1, within_s=1)


@dataclass(frozen=True)
class Order:
    """What was asked for."""

    only: list[str]
    smoke: bool
    repeats: int
    within_s: int
    cpu_limit: float | None
    throng: Path
    stampede: Path

    @property
    def rules(self) -> search.Rules:
        if self.smoke:
            return SMOKE_RULES
        return search.Rules(repeats=self.repeats, within_s=self.within_s, cpu_limit=self.cpu_limit)

    @property
    def command(self) -> str:
        """The run as it can be asked for again, without the folders of this machine."""
        flags = ["--smoke"] if self.smoke else [f"--repeats {self.repeats}", f"--within {self.within_s}"]
        flags += [f"--cpu-limit {self.cpu_limit:g}"] if self.cpu_limit and not self.smoke else []
        return " ".join(["bench/capacity", *flags, *(f"--only {name}" for name in self.only)])


def run(order: Order, folder: Path | None) -> int:
    """0 if all went as it should, 1 if a search could not be made or a count is wrong, 2 if it could not begin.

    `folder` is where the report goes, if it is to be kept.
    """
    end_in_order()
    if complaint := complaint_about(order):
        print(complaint, file=sys.stderr)
        return 2
    groups, missing = _that_can_be_played(plan.plan(order.only, order.smoke))
    minutes = plan.seconds_max(groups, order.rules.within_s) / 60
    _tell(f"{len(plan.searches(groups))} searches, at most {minutes:.0f} minutes")
    machine = kernel.machine()
    with kernel.settings_for(CONNECTIONS_PER_SHARD) as changed, tempfile.TemporaryDirectory(prefix="capacity-") as runs:
        facts = Facts(order.command, machine, changed, order.smoke, missing, order.rules)

        def keep(so_far: dict[Search, Outcome]) -> None:
            """Whatever ends it, what was found by then is there; the pictures come at the end."""
            if folder and any(outcome.found for outcome in so_far.values()):
                report.write_figures(groups, so_far, facts, {}, folder)

        outcomes = search_all(groups, order, Path(runs), keep)
        print(report.markdown(groups, outcomes, facts, {}))
        if folder:
            print("written to", report.write(groups, outcomes, facts, order.stampede, folder))
    faults = report.faults(outcomes, order.smoke)
    for fault in faults:
        print(f"fault: {fault}", file=sys.stderr)
    return 1 if faults else 0


def search_all(
    groups: list[Group], order: Order, folder: Path, keep: Callable[[dict[Search, Outcome]], None]
) -> dict[Search, Outcome]:
    """What goes wrong with one is noted, and the next one follows. `keep` is given all of them after each."""
    wanted = plan.searches(groups)
    outcomes = {one: Outcome(None, ENDED) for one in wanted}
    for number, one in enumerate(wanted, start=1):
        _tell(f"{number} of {len(wanted)}: {_name(one, groups)} …")
        own = folder / str(number)
        own.mkdir()
        try:
            outcomes[one] = Outcome(search.play(one, order.throng, order.stampede, order.rules, own), None)
        except search.SearchLost as lost:
            outcomes[one] = Outcome(None, str(lost))
        except subprocess.CalledProcessError:
            outcomes[one] = Outcome(None, "openssl failed to create a certificate")
        except (RuntimeError, OSError, json.JSONDecodeError) as error:
            outcomes[one] = Outcome(None, str(error))
        _tell(f"  {report.told(outcomes[one])}")
        keep(outcomes)
    return outcomes


def _that_can_be_played(groups: list[Group]) -> tuple[list[Group], dict[str, str]]:
    """Without what this machine lacks something for, which is named."""
    if search.can_make_certificates():
        return groups, {}
    kept, missing = [], {}
    for group in groups:
        there = tuple(c for c in group.configurations if not c.search.setup.tls)
        missing |= {f"{group.name}, {c.name}": "openssl is missing" for c in group.configurations if c not in there}
        kept += [dataclasses.replace(group, configurations=there)] if there else []
    return kept, missing


def _name(one: Search, groups: list[Group]) -> str:
    return "; ".join(f"{g.name}, {c.name}" for g in groups for c in g.configurations if c.search == one)


def complaint_about(order: Order) -> str | None:
    """What makes a run pointless, if anything does."""
    known = [group.name for group in plan.GROUPS]
    if unknown := [name for name in order.only if name not in known]:
        return f"unknown group {unknown[0]!r}; choose from {', '.join(known)}"
    if absent := [path.name for path in (order.throng, order.stampede) if not path.exists()]:
        return f"not built: {', '.join(absent)}; `make bench-all` builds them"
    try:
        with search.limited(order.rules.cpu_limit):
            return None
    except NoLimit as error:
        return f"--cpu-limit: {error}; only root may, on a kernel with control groups"


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
