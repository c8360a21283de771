"""A run of the competition, from what was asked for to the exit status."""

import sys
from dataclasses import dataclass
from pathlib import Path

from runner import form, kernel
from runner.competition import entrants, plan, report
from runner.competition.facts import Facts
from runner.competition.peers import BadPeer
from runner.driver import Driver
from runner.samples import Samples
from runner.termination import end_in_order

REPEATS = 3


@dataclass(frozen=True)
class Order:
    """What was asked for."""

    group: str
    smoke: bool
    repeats: int
    only: list[str]
    without: list[str]
    bin_dir: Path
    throng: Path
    stampede: Path
    peers: Path
    cache: Path
    c10k_seconds: int
    c10k_long_seconds: int
    # Where the report's files go, if it is to be kept.
    results: Path | None

    def wants(self, name: str) -> bool:
        return name not in self.without and (not self.only or name in self.only)

    @property
    def command(self) -> str:
        """The run as it can be asked for again, without the folders of this machine."""
        seconds = f"--c10k-seconds {self.c10k_seconds} --c10k-long-seconds {self.c10k_long_seconds}"
        flags = ["--smoke"] if self.smoke else [f"--repeats {self.repeats}", seconds]
        flags += [f"--only {name}" for name in self.only] + [f"--without {name}" for name in self.without]
        return " ".join(["bench/run", self.group, *flags])


def run(order: Order) -> int:
    """0 if all counts of ours (and in a smoke run everyone's) are right, 1 if not, 2 if it could not begin."""
    end_in_order()
    try:
        if complaint := _complaint(order):
            print(complaint, file=sys.stderr)
            return 2
        there, missing = entrants.find(order.bin_dir, order.throng, order.peers, order.cache, order.wants)
    except BadPeer as error:
        print(error, file=sys.stderr)
        return 2
    for name, reason in missing.items():
        print(f"skipping {name}: {reason}", file=sys.stderr)
    if absent := [name for name in order.only if name in missing]:
        print(f"cannot measure without {' and '.join(absent)}, which --only asks for", file=sys.stderr)
        return 2
    return _compete(order, there, missing)


def _compete(order: Order, there: list[entrants.Entrant], missing: dict[str, str]) -> int:
    scenarios = plan.plan(order.group, order.smoke, order.c10k_seconds, order.c10k_long_seconds)
    tools = plan.Tools(Driver(order.bin_dir / "bench-load"), order.stampede)
    machine = kernel.machine()
    test_seconds = {scenario.name: scenario.seconds for scenario in scenarios if isinstance(scenario, plan.C10kTest)}
    samples, written = Samples(), None
    with kernel.settings_for(max(scenario.connections for scenario in scenarios)) as changed:
        facts = Facts(order.command, machine, order.smoke, there, missing, changed, test_seconds)
        try:
            plan.compete(scenarios, there, tools, order.repeats, samples)
        finally:
            # Whatever ends it, and before anything is made of it: it has taken an hour.
            if order.results and samples.by_scenario:
                written = report.write(samples, facts, order.group, order.results)
    print(report.markdown(samples, facts, None))
    if written:
        print("written to", written)
    judged = samples.faulty if order.smoke else samples.faulty & {*entrants.OURS, entrants.FLOOR}
    wrong = form.complaints(report.data(samples, facts)) if order.smoke else []
    for complaint in wrong:
        print(complaint, file=sys.stderr)
    return 1 if judged or wrong else 0


def _complaint(order: Order) -> str | None:
    """What makes a run pointless, if anything does."""
    known = entrants.names(order.peers, order.cache)
    if unknown := [name for name in [*order.only, *order.without] if name not in known]:
        return f"unknown participant {unknown[0]!r}; choose from {', '.join(known)}"
    scenarios = plan.plan(order.group, order.smoke, order.c10k_seconds, order.c10k_long_seconds)
    if not scenarios:
        return f"{order.group} has nothing to measure: the durations of its tests are 0"
    programs = {order.bin_dir / "bench-load"}
    if any(isinstance(scenario, plan.C10kTest) for scenario in scenarios):
        programs.add(order.stampede)
    if absent := sorted(program for program in programs if not program.exists()):
        return f"cannot measure without {' and '.join(program.name for program in absent)}; `make lab` builds them"
    return None
