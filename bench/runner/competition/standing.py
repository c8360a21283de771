"""The columns of the competition, every server's figure in each, and where ours stand."""

from dataclasses import dataclass

from runner.competition.entrants import FLOOR, OURS, Entrant
from runner.competition.plan import AS_LONG_AS_IN_2012, CLIENTS_IN_2012, FAN_OUT, IDLE
from runner.report import number
from runner.samples import Samples, Spread


@dataclass(frozen=True)
class Column:
    """A figure of which less is better."""

    # In file names.
    name: str
    title: str
    unit: str
    scenario: str
    value: str

    def spread(self, samples: Samples, entrant: str) -> Spread | None:
        return samples.spread(self.scenario, entrant, self.value)

    def ratio(self, samples: Samples, entrant: str) -> float | None:
        """Median to the floor's median."""
        mine, floor = self.spread(samples, entrant), self.spread(samples, FLOOR)
        return mine.median / floor.median if mine and floor and floor.median > 0 else None

    @property
    def heading(self) -> str:
        return f"{self.title}, {self.unit}"


COLUMNS = (
    Column("memory", "Memory per idle connection", "bytes", IDLE, "rss_bytes_per_connection"),
    Column("echo-1", "CPU per echo, 1 in flight", "µs", "echo, 1 in flight", "server_cpu_us_per_echo"),
    Column("echo-16", "CPU per echo, 16 in flight", "µs", "echo, 16 in flight", "server_cpu_us_per_echo"),
    Column("delivery", "CPU per delivery to 10,000", "µs", FAN_OUT, "server_cpu_us_per_delivery"),
    Column("last", "Time to the last of 10,000", "ms", FAN_OUT, "last_receiver_ms_median"),
    Column("c10k-connect", "C10K, mean connection time", "ms", CLIENTS_IN_2012, "connection_time_ms_mean"),
    Column("c10k-latency", "C10K, mean latency", "ms", CLIENTS_IN_2012, "latency_ms_mean"),
    Column("c10k-latency-p99", "C10K, latency, 99 %", "ms", CLIENTS_IN_2012, "latency_ms_p99"),
)

TESTS = (CLIENTS_IN_2012, AS_LONG_AS_IN_2012)


def measured(samples: Samples) -> list[Column]:
    """The columns in which anyone has a figure."""
    return [
        column
        for column in COLUMNS
        if any(column.value in values for values in samples.by_scenario.get(column.scenario, {}).values())
    ]


def ranking(column: Column, samples: Samples, entrants: list[Entrant]) -> list[Entrant]:
    """Those with a figure, the best first. The floor is no server and not among them."""
    figures = {entrant.name: column.spread(samples, entrant.name) for entrant in entrants if entrant.name != FLOOR}
    there = [entrant for entrant in entrants if figures.get(entrant.name)]
    return sorted(there, key=lambda entrant: figures[entrant.name].median)


def told(column: Column, samples: Samples, entrants: list[Entrant]) -> list[str]:
    """Where each of ours stands among the others, in a sentence each; nothing where ours have no figure or are alone."""
    ranked = ranking(column, samples, entrants)
    others = [entrant for entrant in ranked if entrant.name not in OURS]
    return [_told_of(entrant, others, column, samples) for entrant in ranked if entrant.name in OURS and others]


def _told_of(ours: Entrant, others: list[Entrant], column: Column, samples: Samples) -> str:
    mine = column.spread(samples, ours.name).median
    better = [entrant for entrant in others if column.spread(samples, entrant.name).median < mine]
    beside = better or others[:1]
    figures = ", ".join(f"{e.title} {number(column.spread(samples, e.name).median)}" for e in beside)
    place = f"place {len(better) + 1} of {len(others) + 1}, behind" if better else f"first of {len(others) + 1}, before"
    return f"{column.title}: {ours.title} {number(mine)} {column.unit}, {place} {figures}"
