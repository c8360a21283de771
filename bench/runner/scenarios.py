"""What is measured: one class for each kind of scenario, and the plan of a run."""

import time
from dataclasses import dataclass, field

from runner import kernel
from runner.driver import Driver
from runner.metrics import memory_by_component
from runner.samples import Measurement, slope
from runner.servers import Running

GROUPS = ("memory", "broadcast", "connect", "echo")

SMOKE_SCALE = 100


def plan(group: str, smoke: bool) -> list:
    """The scenarios of a group, or of all of them."""
    scale = SMOKE_SCALE if smoke else 1
    echo_seconds = 0.3 if smoke else 4.0
    echoes = [
        Echo(f"{mode}, {in_flight} in flight", mode, in_flight, echo_seconds)
        for mode in ("echo", "channel-echo")
        for in_flight in (1, 16)
    ]
    groups = {
        "memory": [Memory("memory", [n // scale for n in (20_000, 65_000, 110_000, 155_000, 200_000)])],
        "broadcast": [
            Broadcast("broadcast to 10,000", 10_000 // scale, rounds=10),
            Broadcast("broadcast to 100,000", 100_000 // scale, rounds=5),
        ],
        "connect": [Connect("connect", 15_000 // scale)],
        "echo": echoes,
    }
    return [scenario for name in GROUPS if group in (name, "all") for scenario in groups[name]]


@dataclass(frozen=True)
class Connect:
    """Connect, upgrade and join, as fast as both sides can."""

    name: str
    connections: int
    servers: tuple = ("floor", "throng")
    exchange: str = "broadcast"
    single_shard: bool = False

    def repeats(self, wanted: int) -> int:
        return wanted

    def measure(self, server: Running, driver: Driver) -> Measurement:
        report = driver.run(server, "connect", "--connections", self.connections)
        keys = ("connections_per_second", "server_cpu_us_per_connection")
        return Measurement({key: report[key] for key in keys}, open_faults(report, self.connections))


@dataclass(frozen=True)
class Memory:
    """Idle, joined connections: what each adds to the server and to the kernel."""

    name: str
    steps: list
    servers: tuple = ("floor", "throng")
    exchange: str = "broadcast"
    single_shard: bool = False

    @property
    def connections(self) -> int:
        return self.steps[-1]

    def repeats(self, wanted: int) -> int:
        return min(wanted, 2)  # minutes each, and hardly any spread

    def measure(self, server: Running, driver: Driver) -> Measurement:
        resident, slab, components, faults = [], [], [], []
        reports = driver.hold(server, self.steps)
        for step, report in zip(self.steps, reports):
            faults += open_faults(report, step)
            resident.append(settled(lambda: kernel.resident_bytes(server.pid)))
            slab.append(kernel.slab_bytes())
            components.append(memory_by_component(server.metrics_url) if server.metrics_url else {})
        faults += open_faults(next(reports), self.connections)
        reports.close()
        values = {
            "rss_bytes_per_connection": slope(self.steps, resident),
            "kernel_bytes_per_pair": slope(self.steps, slab),
            f"rss_bytes_at_{self.steps[0]}": resident[0],
            f"rss_bytes_at_{self.connections}": resident[-1],
        }
        parts = {name: slope(self.steps, [step[name] for step in components]) for name in components[-1]}
        values |= {f"rss_part_{name}": bytes_each for name, bytes_each in parts.items() if bytes_each >= 0.5}
        if parts:
            values["rss_parts_of_whole"] = sum(parts.values()) / values["rss_bytes_per_connection"]
        return Measurement(values, faults)


@dataclass(frozen=True)
class Broadcast:
    """One message to everyone on the topic."""

    name: str
    receivers: int
    rounds: int
    servers: tuple = ("floor", "throng")
    exchange: str = "broadcast"
    single_shard: bool = False

    @property
    def connections(self) -> int:
        return self.receivers + 1

    def repeats(self, wanted: int) -> int:
        return wanted

    def measure(self, server: Running, driver: Driver) -> Measurement:
        report = driver.run(server, "broadcast", "--receivers", self.receivers, "--rounds", self.rounds)
        faults = open_faults(report["opened"], self.receivers)
        faults += [f"{report[key]} messages {key}" for key in ("lost", "extra") if report[key]]
        keys = ("server_cpu_us_per_delivery", "last_receiver_ms_median")
        return Measurement({key: report[key] for key in keys}, faults)


@dataclass(frozen=True)
class Echo:
    """Messages that come straight back, from the mount or as a channel's reply."""

    name: str
    exchange: str
    in_flight: int
    seconds: float
    connections: int = 100
    single_shard: bool = True
    servers: tuple = field(init=False)

    def __post_init__(self):
        peers = ("bun",) if self.exchange == "echo" else ()
        object.__setattr__(self, "servers", ("floor", "throng", *peers))

    def repeats(self, wanted: int) -> int:
        return wanted

    def measure(self, server: Running, driver: Driver) -> Measurement:
        arguments = ("--connections", self.connections, "--in-flight", self.in_flight, "--seconds", self.seconds)
        report = driver.run(server, self.exchange, *arguments)
        faults = open_faults(report["opened"], self.connections)
        faults += [] if report["echoes"] else ["no echoes were received"]
        keys = ("echoes_per_second", "server_cpu_us_per_echo", "server_cores")
        return Measurement({key: report[key] for key in keys}, faults)


def open_faults(opened: dict, wanted: int) -> list[str]:
    """What is wrong with how many connections are open."""
    if opened["open"] == wanted:
        return []
    return [f"{opened['open']} of {wanted} open, {opened['failed']} failed, {opened['closed']} closed"]


def settled(read, patience_s: float = 5.0) -> int:
    """A value that has not moved for half a second, or the last one before patience ran out."""
    deadline = time.monotonic() + patience_s
    value, unchanged = read(), 0
    while unchanged < 5 and time.monotonic() < deadline:
        time.sleep(0.1)
        value, before = read(), value
        unchanged = unchanged + 1 if value == before else 0
    return value
