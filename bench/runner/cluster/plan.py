"""The group `cluster` of `bench/run` and its parts."""

from runner.cluster import bus_cost, bystanders, redis, rooms, storm
from runner.cluster.bus_cost import BusCost
from runner.cluster.bystanders import Bystanders
from runner.cluster.killed import Killed
from runner.cluster.rooms import Rooms
from runner.cluster.storm import Storm
from runner.cluster.talk import Talk
from runner.targets import Target
from runner.trials import Suite, Tools

GROUPS = ("cluster-rooms", "cluster-bystanders", "cluster-redis", "cluster-killed", "cluster-storm")

ROOMS = "rooms over two nodes"
BYSTANDERS = "talk on one node of three"
BUS_COST = "Redis for each message"
KILLED = "a node is killed"
STORM = "a crowd comes to a node where two talk"

TARGETS = (
    Target(ROOMS, "deliveries_per_cpu_second", rooms.TWO, rooms.ONE, at_least=0.8),
    Target(ROOMS, "added_latency_ms_p50_at_half", rooms.TWO, None, at_most=1.0),
    Target(ROOMS, "added_latency_ms_p99_at_half", rooms.TWO, None, at_most=5.0),
    Target(BYSTANDERS, "counters_that_moved", bystanders.SUBJECT, None, at_most=0),
    Target(STORM, "meanwhile_ms_p99", storm.PACED, None, at_most=rooms.CARRIED_P99_MS),
    Target(BUS_COST, "redis_cpu_us_per_message", bus_cost.NODES, bus_cost.BENCHMARK, at_most=1.3),
)

SMOKE_SCALE = 100


def suite(group: str, smoke: bool, tools: Tools) -> Suite:
    """The scenarios of a part, or of all of them."""
    scale = SMOKE_SCALE if smoke else 1
    several, times = (2, (0.4, 0.1, 0.5)) if smoke else (100, (8, 1, 2))
    few = Talk(max(several // 5, 1), 20, 200, *times)
    many = Talk(several, 20, 200 if smoke else 500, *times)
    # Little to deliver and much to publish: a Redis that sleeps between messages pays for waking up.
    pairs = Talk(5 * several, 2, 200 if smoke else 5000, *times)
    by_group = {
        "cluster-rooms": Rooms(ROOMS, many, full_per_second=200 if smoke else None),
        "cluster-bystanders": Bystanders(BYSTANDERS, few),
        "cluster-redis": BusCost(BUS_COST, pairs, 200_000 // scale),
        "cluster-killed": Killed(KILLED, 20_000 // scale, 100 if not smoke else 5),
        "cluster-storm": Storm(STORM, 16_000 // scale, *((5, 1, 4, 1) if smoke else (100, 20, 20))),
    }
    scenarios = [by_group[name] for name in GROUPS if group in (name, "cluster")]
    programs = (tools.throng, tools.stampede, tools.driver, tools.floor)
    absent = {program.name: "`make bench-programs` builds it" for program in programs if not program.exists()}
    absent |= redis.absent("redis-server", "redis-benchmark")
    bases = ("floor", rooms.ONE, bus_cost.BENCHMARK, storm.AS_THEY_COME)
    return Suite(group, scenarios, absent, {}, bases, TARGETS)
