"""What the competition's report says besides its figures, and its pictures."""

from dataclasses import dataclass

from runner import report
from runner.competition import bars, standing
from runner.competition.entrants import FLOOR, OURS, Entrant
from runner.competition.standing import Column
from runner.competition.tables import times
from runner.samples import Samples

HOW = (
    "Each server has one core, and its client has the other one; each repeat restarts every server, one after the other. "
    "Each figure shows the median, minimum and maximum of the repeats, and × the floor's median. Lower is better.",
    "Memory: the resident memory of the server's processes with 15,000 idle connections minus that with 1,000, divided by "
    "14,000. CPU: user and system time of the server's processes, measured by the kernel. An echo is 64 bytes of text, on "
    "100 connections. A broadcast goes to 10,000 clients; the next one starts when all have received it.",
    "Throng's broadcast goes through a Phoenix channel, because its plain mounts do not broadcast: the publication is "
    "decoded and routed to its topic. The floor sends the same traffic with fixed bytes. The peers forward the received "
    "bytes to each receiver without parsing them. NATS adds its own header.",
)

TEST_NOTE = (
    "One client connects per millisecond, up to 10,000; each sends its time at once and then every second, without "
    "waiting for the echo. `stampede c10k` plays it. Times are mean / median / 99 % / maximum. Each figure is the "
    "median of the repeats; the minimum and maximum are below it where they differ. A † marks servers with INVALID "
    "runs, in which the generator was the limit."
)


@dataclass(frozen=True)
class Facts:
    """What is known of a run besides its samples."""

    command: str
    machine: dict[str, str]
    smoke: bool
    entrants: list[Entrant]
    missing: dict[str, str]
    settings_changed: dict[str, tuple[int, int]]
    # Of each of the C10K tests.
    test_seconds: dict[str, int]
    # When it was measured, if that is not now.
    date: str | None = None


def standings(samples: Samples, facts: Facts) -> list[str]:
    """Sentences for each column; none in a smoke run, whose figures say nothing."""
    columns = () if facts.smoke else standing.measured(samples)
    return [sentence for column in columns for sentence in standing.told(column, samples, facts.entrants)]


def pictures(samples: Samples, facts: Facts) -> dict[str, str]:
    """An SVG for each column, by the column's name."""
    return {
        column.name: bars.draw(column.heading, _bars(column, samples, facts.entrants))
        for column in standing.measured(samples)
    }


def headed(test: str, facts: Facts) -> str:
    return f"{test[0].upper()}{test[1:]}, {facts.test_seconds[test]} s"


def machine_lines(facts: Facts) -> list[str]:
    lines = [facts.date or report.dated(), f"command: `{facts.command}`"]
    lines += [f"{name}: {value}" for name, value in facts.machine.items()]
    lines += [f"kernel setting {name}: {old} → {new}" for name, (old, new) in facts.settings_changed.items()]
    lines += [] if facts.settings_changed else ["kernel settings: unchanged"]
    return lines + (["smoke run: the figures have no meaning"] if facts.smoke else [])


def _bars(column: Column, samples: Samples, entrants: list[Entrant]) -> list[bars.Bar]:
    found = []
    for entrant in entrants:
        if spread := column.spread(samples, entrant.name):
            kind = "floor" if entrant.name == FLOOR else "ours" if entrant.name in OURS else "peer"
            ratio = None if entrant.name == FLOOR else column.ratio(samples, entrant.name)
            found.append(bars.Bar(entrant.title, kind, spread, f"{times(ratio)} floor" if ratio else ""))
    return found
