"""What is measured of every entrant, one class for each kind, and the plan of a run.

Each server has one core and its client another one. Each repeat starts every server anew, one after the other.
"""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from runner import processes
from runner.competition import c10k, cores
from runner.competition.entrants import BROADCAST, C10K, ECHO, FLOOR, MEMORY, Entrant, Visit
from runner.driver import Driver
from runner.failures import FAILURES, told
from runner.samples import Measurement, Samples
from runner.scenarios import open_faults, settled
from runner.servers import Running

GROUPS = ("competition-memory", "competition-echo", "competition-broadcast", "competition-c10k")

SMOKE_SCALE = 100

IDLE = "memory per idle connection"
FAN_OUT = "broadcast to 10,000"
CLIENTS_IN_2012 = "the C10K test"
# For the last of ten thousand to hear a message; the slowest takes a second.
HEAR_PATIENCE_S = 30
AS_LONG_AS_IN_2012 = "the C10K test, as long as in 2012"


@dataclass(frozen=True)
class Stage:
    """What a server is to be ready for."""

    connections: int
    exchange: str
    single_shard: bool = True


@dataclass(frozen=True)
class Tools:
    """The clients."""

    driver: Driver
    stampede: Path


def plan(group: str, smoke: bool, c10k_seconds: int, c10k_long_seconds: int) -> list:
    """The scenarios of a group, or of `competition`: all of them. No seconds leave a test out."""
    scale = SMOKE_SCALE if smoke else 1
    clients = 10_000 // scale
    tests = [C10kTest(CLIENTS_IN_2012, clients, 2 if smoke else c10k_seconds)]
    if not smoke:
        tests.append(C10kTest(AS_LONG_AS_IN_2012, clients, c10k_long_seconds, only=(FLOOR, "throng"), repeats_max=1))
    groups = {
        "competition-memory": [Idle(IDLE, 1000 // scale, 15_000 // scale)],
        "competition-echo": [
            Echo(f"echo, {in_flight} in flight", in_flight, 0.5 if smoke else 6) for in_flight in (1, 16)
        ],
        "competition-broadcast": [FanOut(FAN_OUT, 10_000 // scale, rounds=10)],
        "competition-c10k": [test for test in tests if test.seconds],
    }
    return [scenario for name in GROUPS if group in (name, "competition") for scenario in groups[name]]


def compete(scenarios: list, entrants: list[Entrant], tools: Tools, repeats: int, samples: Samples) -> None:
    """All measurements, into `samples`; what goes wrong with one is noted among the faults, and the next one follows."""
    for scenario in scenarios:
        there = [entrant for entrant in entrants if scenario.is_for(entrant)]
        for repeat in range(1, min(repeats, scenario.repeats_max) + 1):
            for entrant in there:
                print(f"{scenario.name}, repeat {repeat}, {entrant.name} …", file=sys.stderr, flush=True)
                measurement = _measured(scenario, entrant, tools)
                for fault in measurement.faults:
                    print(f"  {fault}", file=sys.stderr, flush=True)
                samples.add(scenario, entrant.name, measurement)


def _measured(scenario, entrant: Entrant, tools: Tools) -> Measurement:
    visit = entrant.visits[scenario.kind]
    stage = Stage(scenario.connections, visit.exchange)
    try:
        with ExitStack() as stack:
            with cores.on(cores.server()):
                server = stack.enter_context(entrant.server.start(stage))
            with cores.on(cores.client()):
                return scenario.measure(server, visit, tools)
    except FAILURES as error:
        return Measurement({}, [told(error)])


@dataclass(frozen=True)
class Idle:
    """What each idle connection adds to the resident sets of the server's processes, behind the first ones, which find
    a server that is not warm."""

    name: str
    first: int
    connections: int
    kind: str = MEMORY
    repeats_max: int = 3

    def is_for(self, entrant: Entrant) -> bool:
        return self.kind in entrant.visits

    def measure(self, server: Running, visit: Visit, tools: Tools) -> Measurement:
        steps, resident, faults = [self.first, self.connections], [], []
        arguments = ("--dialect", visit.dialect, "--path", visit.path, "--threads", 1)
        reports = tools.driver.hold(server, steps, *arguments)
        for step, report in zip(steps, reports):
            faults += open_faults(report, step)
            resident.append(settled(lambda: processes.resident_bytes(processes.tree(server.pid))))
        faults += open_faults(next(reports), self.connections)
        reports.close()
        if faults:
            return Measurement({}, faults)
        per_connection = (resident[1] - resident[0]) / (self.connections - self.first)
        return Measurement({"rss_bytes_per_connection": per_connection, "rss_bytes": resident[1]}, [])


@dataclass(frozen=True)
class Echo:
    """64 bytes of text that come straight back, on a hundred connections."""

    name: str
    in_flight: int
    seconds: float
    connections: int = 100
    kind: str = ECHO
    repeats_max: int = 100

    def is_for(self, entrant: Entrant) -> bool:
        return self.kind in entrant.visits

    def measure(self, server: Running, visit: Visit, tools: Tools) -> Measurement:
        arguments = ("--connections", self.connections, "--in-flight", self.in_flight, "--seconds", self.seconds)
        report = tools.driver.run(server, visit.echo, *arguments, "--path", visit.path)
        faults = open_faults(report["opened"], self.connections)
        faults += [] if report["echoes"] else ["no echoes were received"]
        keys = ("server_cpu_us_per_echo", "echoes_per_second", "server_cores")
        return Measurement({} if faults else {key: report[key] for key in keys}, faults)


@dataclass(frozen=True)
class FanOut:
    """One message to everyone, the next one when all have it."""

    name: str
    receivers: int
    rounds: int
    kind: str = BROADCAST
    repeats_max: int = 100

    @property
    def connections(self) -> int:
        return self.receivers + 1

    def is_for(self, entrant: Entrant) -> bool:
        return self.kind in entrant.visits

    def measure(self, server: Running, visit: Visit, tools: Tools) -> Measurement:
        arguments = ("--receivers", self.receivers, "--rounds", self.rounds, "--dialect", visit.dialect)
        arguments += ("--patience-seconds", HEAR_PATIENCE_S)
        report = tools.driver.run(server, "broadcast", *arguments, "--path", visit.path, "--threads", 1)
        faults = open_faults(report["opened"], self.receivers)
        faults += [f"{report[key]} messages {key}" for key in ("lost", "extra") if report[key]]
        keys = ("server_cpu_us_per_delivery", "last_receiver_ms_median")
        return Measurement({} if faults else {key: report[key] for key in keys}, faults)


@dataclass(frozen=True)
class C10kTest:
    """The C10K test of 2012. Its figures count whatever happens: failures are what it measures."""

    name: str
    connections: int
    seconds: int
    only: tuple[str, ...] = ()
    kind: str = C10K
    repeats_max: int = 100

    def is_for(self, entrant: Entrant) -> bool:
        return self.kind in entrant.visits and (not self.only or entrant.name in self.only)

    def measure(self, server: Running, visit: Visit, tools: Tools) -> Measurement:
        played = c10k.play(tools.stampede, server.address, visit.path, self.connections, self.seconds)
        values = played.values | {"invalid_runs": float(bool(played.invalid_because))}
        return Measurement(values, c10k.faults(played.values, self.connections))
