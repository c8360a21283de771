"""Scenarios that measure several subjects in one go, beside each other: their repeats, what goes wrong with one, and the
run from what was asked for to the exit status."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from runner import form, kernel, report, targets
from runner.failures import FAILURES, told
from runner.samples import Measurement, Samples


@dataclass(frozen=True)
class Tools:
    """The programs."""

    bin_dir: Path
    throng: Path
    stampede: Path

    @property
    def driver(self) -> Path:
        return self.bin_dir / "bench-load"

    @property
    def floor(self) -> Path:
        return self.bin_dir / "floor"

    def example(self, name: str) -> Path:
        """A program that is an example of one of the crates."""
        return self.bin_dir / "examples" / name


@dataclass
class Outcome:
    """What a repeat brought: measurements by subject, and what Stampede says of its runs."""

    by_subject: dict[str, Measurement]
    verdicts: list[dict] = field(default_factory=list)


@dataclass(frozen=True)
class Suite:
    """A group of `bench/run`: its scenarios and what they need."""

    group: str
    scenarios: list
    # What is not there, and how it comes to be.
    absent: dict[str, str]
    # What was left out because something else is not there.
    missing: dict[str, str]
    # What other subjects of a scenario are compared with; the first that it has.
    bases: tuple[str, ...]
    targets: tuple[targets.Target, ...]


def run(suite: Suite, tools: Tools, options, folder: Path | None) -> int:
    """0 if all counts are right, 1 if not, 2 if it could not begin; never because of a target."""
    if suite.absent:
        print("\n".join(f"cannot measure without {name}: {remedy}" for name, remedy in suite.absent.items()), file=sys.stderr)
        return 2
    for name, reason in suite.missing.items():
        print(f"skipping {name}: {reason}", file=sys.stderr)
    machine = kernel.machine()
    with kernel.settings_for(max(scenario.connections for scenario in suite.scenarios)) as changed:
        samples, verdicts = measure(suite.scenarios, tools, options.repeats)
    if not samples.by_scenario:
        print("\n".join(["no measurements:", *samples.faults]), file=sys.stderr)
        return 1
    facts = SimpleNamespace(machine=machine, verdicts=verdicts, bases=suite.bases, kind=suite.group.partition("-")[0])
    text, data = report.render(samples, targets.judge(samples, suite.targets), changed, suite.missing, options, facts)
    print(text)
    if folder:
        print("written to", report.write(text, data, options.group, folder))
    wrong = samples.faults + (form.complaints(data) if options.smoke else [])
    for complaint in wrong:
        print(f"fault: {complaint}", file=sys.stderr)
    return 1 if wrong else 0


def measure(scenarios: list, tools: Tools, repeats: int) -> tuple[Samples, list[dict]]:
    """All repeats of all scenarios; what goes wrong with one is noted among the faults, and the next one follows."""
    samples, verdicts = Samples(), []
    for scenario in scenarios:
        for repeat in range(1, scenario.repeats(repeats) + 1):
            print(f"{scenario.name}, repeat {repeat} …", file=sys.stderr, flush=True)
            outcome = _measured(scenario, tools)
            verdicts += [{**verdict, "run": f"{verdict['run']}, repeat {repeat}"} for verdict in outcome.verdicts]
            for subject, measurement in outcome.by_subject.items():
                samples.add(scenario, subject, measurement)
    return samples, verdicts


def _measured(scenario, tools: Tools) -> Outcome:
    try:
        return scenario.measure(tools)
    except FAILURES as error:
        return Outcome({scenario.subjects[-1]: Measurement({}, [told(error)])})
