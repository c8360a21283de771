"""What was measured, and its statistics: medians with their spread, ratios within a repeat."""

import statistics
from collections import defaultdict
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Measurement:
    """One measurement of one server: values by name, and what was wrong with the counts."""

    values: dict[str, float]
    faults: list[str]


@dataclass(frozen=True)
class Spread:
    """A median and the least and greatest around it."""

    median: float
    least: float
    greatest: float

    @staticmethod
    def of(values: list[float]) -> "Spread":
        return Spread(statistics.median(values), min(values), max(values))


@dataclass
class Samples:
    """Values by scenario, server and name, in order of the repeats."""

    by_scenario: dict = field(default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(list))))
    faults: list[str] = field(default_factory=list)
    # Servers of which something was wrong.
    faulty: set[str] = field(default_factory=set)

    def add(self, scenario, server: str, measurement: Measurement) -> None:
        for name, value in measurement.values.items():
            self.by_scenario[scenario.name][server][name].append(value)
        self.faulty |= {server} if measurement.faults else set()
        self.faults += [f"{scenario.name}, {server}: {fault}" for fault in measurement.faults]

    def spread(self, scenario: str, server: str, name: str) -> Spread | None:
        values = self._values(scenario, server, name)
        return Spread.of(values) if values else None

    def ratio(self, scenario: str, server: str, base: str, name: str) -> Spread | None:
        """Of `server` to `base`, within each repeat: what slowed one down at that time slowed down the other."""
        pairs = zip(self._values(scenario, server, name), self._values(scenario, base, name))
        ratios = [value / other for value, other in pairs if other]
        return Spread.of(ratios) if ratios else None

    def _values(self, scenario: str, server: str, name: str) -> list[float]:
        return self.by_scenario.get(scenario, {}).get(server, {}).get(name, [])


def slope(xs: list[float], ys: list[float]) -> float:
    """Of the straight line that fits best (least squares)."""
    return statistics.linear_regression(xs, ys).slope
