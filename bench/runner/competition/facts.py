"""What the competition's report says besides its figures, and its pictures."""

from dataclasses import dataclass

from runner import report
from runner.competition import bars, standing
from runner.competition.entrants import FLOOR, OURS, Entrant
from runner.competition.standing import Column
from runner.competition.tables import times
from runner.samples import Samples

HOW = (
    "Each server has one core and its client the other one; each repeat starts every server anew, one after the other. "
    "Of each figure: the median, the least and the greatest of the repeats, and × the floor's median. Less is better.",
    "Memory: the resident sets of the server's processes with 15,000 idle connections, less those with the first 1,000, "
    "for each connection between. CPU: user and system time of the server's processes, by the kernel's clock. An echo "
    "is 64 bytes of text, on 100 connections. A broadcast goes to 10,000, the next one when all have it.",
    "Throng's broadcast goes through a Phoenix channel, since no plain mount of it broadcasts: the publication is "
    "decoded and routed to its topic. The floor plays the same with canned bytes. The peers pass on what they get, the "
    "same bytes to each receiver, without looking. NATS puts a head of its own before them.",
)

TEST_NOTE = (
    "A client each millisecond, until there are 10,000; each sends its time at once and then each second, and never "
    "waits for the echo. `stampede c10k` plays it. Times are mean / median / 99 % / greatest. Of each figure: the "
    "median of the repeats, and beneath it the least and the greatest where they differ. A † marks servers with runs of "
    "which Stampede says that the generator shaped them."
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
    """A sentence for each column; none in a smoke run, whose figures say nothing."""
    columns = () if facts.smoke else standing.measured(samples)
    told = [standing.told(column, samples, facts.entrants) for column in columns]
    return [text for text in told if text]


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
    return lines + (["a smoke run: its figures mean nothing"] if facts.smoke else [])


def _bars(column: Column, samples: Samples, entrants: list[Entrant]) -> list[bars.Bar]:
    found = []
    for entrant in entrants:
        if spread := column.spread(samples, entrant.name):
            kind = "floor" if entrant.name == FLOOR else "ours" if entrant.name in OURS else "peer"
            ratio = None if entrant.name == FLOOR else column.ratio(samples, entrant.name)
            found.append(bars.Bar(entrant.title, kind, spread, f"{times(ratio)} floor" if ratio else ""))
    return found
