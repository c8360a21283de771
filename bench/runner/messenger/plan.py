"""The group `messenger` of `bench/run` and its parts."""

from runner.cluster.talk import Talk
from runner.messenger import durable, idle, neighbours, postgres, rooms, startup, visits
from runner.messenger.durable import Durable, OnPostgres
from runner.messenger.idle import Idle
from runner.messenger.neighbours import Neighbours
from runner.messenger.rooms import Rooms
from runner.messenger.startup import Startup
from runner.messenger.visits import Visits
from runner.targets import Target
from runner.trials import Suite, Tools

GROUPS = (
    "messenger-durable", "messenger-postgres", "messenger-startup", "messenger-idle", "messenger-rooms",
    "messenger-rooms-busy", "messenger-memory", "messenger-visits", "messenger-neighbours",
)  # fmt: skip

DURABLE = "acknowledged and stored"
ON_POSTGRES = "stored on PostgreSQL"
STARTUP = "a start on communities"
IDLE = "idle people with a room"
ROOMS = "rooms of twenty"
BUSY_ROOMS = "rooms of twenty, busy"
MEMORY = "memory while rooms talk"
VISITS = "visits"
NEIGHBOURS = "a quiet community"

TARGETS = (
    Target(DURABLE, "messages_per_second", durable.STORE_ONE, durable.BARE, at_least=0.8),
    Target(DURABLE, "messages_per_second", durable.CHANNELS_ONE, durable.BARE, at_least=0.5),
    # Once as fast as a thousand senders are answered, where latency is what they queue; once at a rate.
    Target(DURABLE, "messages_per_second", durable.CHANNELS_MANY, None, at_least=10_000),
    Target(DURABLE, "ack_ms_p99", durable.CHANNELS_MANY, None, at_most=100),
    Target(DURABLE, "messages_per_second", durable.CHANNELS_PACED, None, at_least=10_000),
    Target(DURABLE, "ack_ms_p99", durable.CHANNELS_PACED, None, at_most=100),
    Target(ON_POSTGRES, "messages_per_second", durable.POSTGRES_MANY, durable.BARE_CLIENT, at_least=0.7),
    Target(STARTUP, "ready_s", startup.FULL, None, at_most=2),
    Target(STARTUP, "threads", startup.FULL, startup.EMPTY, at_most=1),
    # Ten thousand timers would be thousands of times as many.
    Target(STARTUP, "wakeups_per_second", startup.FULL, startup.EMPTY, at_most=1.5),
    Target(IDLE, "rss_bytes_per_person", idle.SUBJECT, None, at_most=1024),
    Target(ROOMS, "deliveries_per_cpu_second", rooms.STORED, rooms.PLAIN, at_least=0.7),
    Target(BUSY_ROOMS, "deliveries_per_cpu_second", rooms.STORED, rooms.PLAIN, at_least=0.7),
    Target(VISITS, "cache_hits_percent", visits.CACHED, None, at_least=82.6),
    # As long as everybody may wait where all of them send as fast as they can.
    Target(NEIGHBOURS, "ack_ms_p99", neighbours.BESIDE, None, at_most=100),
)

BASES = (durable.BARE, durable.BARE_CLIENT, startup.EMPTY, rooms.PLAIN, visits.UNCACHED, neighbours.ALONE)


def suite(group: str, smoke: bool, tools: Tools) -> Suite:
    """The scenarios of a part, or of all of them."""
    scenarios = [scenario for name, scenario in (_small() if smoke else _whole()).items() if group in (name, "messenger")]
    programs = (tools.throng, tools.stampede, tools.example("durable"), tools.example("furnished"))
    absent = {program.name: "`make bench-programs` builds it" for program in programs if not program.exists()}
    missing = {ON_POSTGRES: f"{name} is missing: {remedy}" for name, remedy in postgres.absent().items()}
    scenarios = [scenario for scenario in scenarios if scenario.name not in missing]
    if not scenarios:
        absent |= postgres.absent()
    return Suite(group, scenarios, absent, missing, BASES, TARGETS)


def _whole() -> dict:
    talk = Talk(rooms=1000, members=20, messages_per_second=1000, seconds=20)
    return {
        "messenger-durable": Durable(DURABLE, senders=1000, messages=50_000, seconds=10, paced_per_second=11_000),
        "messenger-postgres": OnPostgres(ON_POSTGRES, senders=1000, messages=50_000, seconds=5),
        "messenger-startup": Startup(STARTUP, communities=10_000, people=20, seconds=10),
        "messenger-idle": Idle(IDLE, (20_000, 60_000, 100_000), people_per_room=100, arrivals_per_second=500),
        "messenger-rooms": Rooms(ROOMS, talk, arrivals_per_second=1000),
        "messenger-rooms-busy": Rooms(BUSY_ROOMS, talk.at(2500), arrivals_per_second=1000),
        "messenger-memory": Rooms(MEMORY, talk, arrivals_per_second=1000, watched_s=600),
        "messenger-visits": Visits(VISITS, people=400, rooms=20, visits=10),
        "messenger-neighbours": Neighbours(NEIGHBOURS, quiet=200, crowd=4000, seconds=15),
    }


def _small() -> dict:
    talk = Talk(rooms=2, members=20, messages_per_second=200, seconds=0.4, margin_s=0.1, drain_s=0.5)
    return {
        "messenger-durable": Durable(DURABLE, senders=10, messages=200, seconds=0.5, paced_per_second=100),
        "messenger-postgres": OnPostgres(ON_POSTGRES, senders=10, messages=200, seconds=1, servers_apart=False),
        "messenger-startup": Startup(STARTUP, communities=100, people=20, seconds=0.5),
        "messenger-idle": Idle(IDLE, (20, 60), people_per_room=10, arrivals_per_second=200, settles_s=0.2),
        "messenger-rooms": Rooms(ROOMS, talk, arrivals_per_second=200),
        "messenger-rooms-busy": Rooms(BUSY_ROOMS, talk.at(400), arrivals_per_second=200),
        "messenger-memory": Rooms(MEMORY, talk, arrivals_per_second=200, watched_s=1),
        "messenger-visits": Visits(VISITS, people=10, rooms=2, visits=2, pause="20ms..60ms"),
        "messenger-neighbours": Neighbours(NEIGHBOURS, quiet=4, crowd=20, seconds=1, beat="100ms"),
    }
