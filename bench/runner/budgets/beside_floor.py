"""The figures that need a quiet machine: ratios to the floor within one run, and the slope of the resident set.

The scenarios are those of `bench/run`, shorter, and repeated as often as it takes to see past a disturbance.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from runner import kernel, servers
from runner.budgets import CannotMeasure, require_built
from runner.driver import Driver
from runner.samples import Samples
from runner.scenarios import Broadcast, Connect, Echo, Memory

REPEATS = 3
SMOKE_SCALE = 100

CONNECT, BROADCAST, MEMORY = "connect", "broadcast to 10,000", "memory"
ECHO_1, ECHO_16 = "echo, 1 in flight", "echo, 16 in flight"


@dataclass(frozen=True)
class Source:
    """Which value of Throng a figure is, and whether as a ratio to the floor's."""

    scenario: str
    value: str
    is_ratio: bool = True


SOURCES = {
    "rss_bytes_per_member": Source(MEMORY, "rss_bytes_per_connection", is_ratio=False),
    "connect_rate_over_floor": Source(CONNECT, "connections_per_second"),
    "cpu_per_connection_over_floor": Source(CONNECT, "server_cpu_us_per_connection"),
    "cpu_per_delivery_over_floor": Source(BROADCAST, "server_cpu_us_per_delivery"),
    "last_receiver_over_floor": Source(BROADCAST, "last_receiver_ms_median"),
    "cpu_per_echo_over_floor": Source(ECHO_1, "server_cpu_us_per_echo"),
    "cpu_per_echo_16_in_flight_over_floor": Source(ECHO_16, "server_cpu_us_per_echo"),
}


def plan(smoke: bool) -> list:
    """The scenarios; those of a smoke run have 1 % of the people, check counts and measure nothing."""
    scale, echo_s = (SMOKE_SCALE, 0.2) if smoke else (1, 2.0)
    return [
        Memory(MEMORY, [people // scale for people in (20_000, 40_000, 60_000)], servers=("throng",)),
        Connect(CONNECT, 15_000 // scale),
        Broadcast(BROADCAST, 10_000 // scale, rounds=10),
        Echo(ECHO_1, "echo", 1, echo_s),
        Echo(ECHO_16, "echo", 16, echo_s),
    ]


def figures(bin_dir: Path, throng: Path, smoke: bool) -> dict[str, float]:
    """Medians over the repeats, by the names of the budgets."""
    require_built(bin_dir, throng)
    fleet = {"floor": servers.Floor(bin_dir / "floor"), "throng": servers.Throng(throng)}
    scenarios, driver = plan(smoke), Driver(bin_dir / "bench-load")
    with kernel.settings_for(max(scenario.connections for scenario in scenarios)):
        samples = _measure(scenarios, fleet, driver, 1 if smoke else REPEATS)
    if samples.faults:
        raise CannotMeasure("wrong counts: " + "; ".join(samples.faults))
    return figures_of(samples)


def figures_of(samples: Samples) -> dict[str, float]:
    """What each source says, where it says anything."""
    spreads = {name: _spread(source, samples) for name, source in SOURCES.items()}
    return {name: round(spread.median, 3) for name, spread in spreads.items() if spread is not None}


def _spread(source: Source, samples: Samples):
    if source.is_ratio:
        return samples.ratio(source.scenario, "throng", "floor", source.value)
    return samples.spread(source.scenario, "throng", source.value)


def _measure(scenarios: list, fleet: dict, driver: Driver, repeats: int) -> Samples:
    samples = Samples()
    for scenario in scenarios:
        for repeat in range(1, scenario.repeats(repeats) + 1):
            for name in (name for name in scenario.servers if name in fleet):
                print(f"{scenario.name}, repeat {repeat}, {name} …", file=sys.stderr, flush=True)
                with fleet[name].start(scenario) as process:
                    samples.add(scenario, name, scenario.measure(process, driver))
    return samples
