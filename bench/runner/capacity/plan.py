"""What is searched for: groups of configurations, each a scenario of Stampede whose load grows until it does not hold.

The benchmarks that the authors of the seeds only planned: one channel with x users and y messages, X channels of 1000,
people who come and go, hot rooms, sizes, frequencies; and what compression, TLS, HTTP and shards cost.
"""

from dataclasses import dataclass, replace

from runner.servers import CONNECTIONS_PER_SHARD

# A message later than this is of no use in a conversation.
UNTIL = ("p99 < 250ms", "lost == 0", "errors == 0")

SMOKE_SCALE = 100
# What is short instead of small in a smoke run: so few people say next to nothing at the pace of many.
SMOKE = {"gather": "0.2", "seconds": "1.2", "drain": "1s", "interval": "50ms", "beat": "50ms"}
SMOKE |= {"visit": "0.3", "pause": "0.1", "requests": "20", "visitors": "2"}

# Of a run beyond its own seconds: the drain, starting, the report.
AROUND_S = 6

# What compresses as people's words do, without a line twice.
PROSE = (
    "Good morning! Has anybody read the notes of the new release? I had a look at them on the train, and the part "
    "about rooms is what we have been waiting for since spring. Martha thinks that we should first try it with one customer, "
    "perhaps the library, because they are small and complain loudly when something breaks. Let us meet at ten by the "
    "window, bring coffee, and decide who writes to them. If nobody objects until noon I shall order the second "
    "machine as well, it is only a matter of weeks until we need it anyway."
)

@dataclass(frozen=True)
class Setup:
    """How the server is set up."""

    shards: int = 1
    tls: bool = False
    compression: bool = False
    # Server and generator share all cores, in place of one for the server and the others for the generator.
    shares_cores: bool = False

    @property
    def words(self) -> str:
        parts = [f"{self.shards} shard{'s' if self.shards > 1 else ''}"]
        parts += ["TLS"] * self.tls + ["compression"] * self.compression
        return ", ".join([*parts, *["cores shared with the generator"] * self.shares_cores])


@dataclass(frozen=True)
class Search:
    """One search: where it begins, and what it varies."""

    scenario: str
    variables: tuple[tuple[str, str], ...]
    # About half of what held last: each doubling before that is a run less between what holds and what fails.
    begin: int
    # Never beyond: what the connections allow.
    most: int
    vary: str = "load"
    until: tuple[str, ...] = UNTIL
    setup: Setup = Setup()
    # The load of a smoke run, where 1 % would be no load at all.
    smoke_least: int = 1

    @property
    def run_seconds(self) -> float:
        return float(dict(self.variables)["seconds"]) + AROUND_S

    def smaller(self) -> "Search":
        """1 % of the numbers, one run."""
        load = max(self.begin // SMOKE_SCALE, self.smoke_least)
        variables = tuple((name, _smaller(name, value)) for name, value in self.variables)
        return replace(self, variables=variables, begin=load, most=load)


def _smaller(name: str, value: str) -> str:
    if name in ("users", "members") and int(value) >= 1000:
        return str(int(value) // SMOKE_SCALE)
    return SMOKE.get(name, value)


@dataclass(frozen=True)
class Configuration:
    """A search under the name that it has in its group."""

    name: str
    search: Search
    # Of the group's measure, for each unit of load; `None` where it cannot be said beforehand.
    per_load: float = 1.0


@dataclass(frozen=True)
class Group:
    """Configurations that are compared with each other."""

    name: str
    title: str
    # What the load counts, and what the pictures show of it.
    load: str
    measure: str
    configurations: tuple[Configuration, ...]

    def smaller(self) -> "Group":
        """At 1 %, the last one, and those of other scenarios."""
        chosen = {c.search.scenario: c for c in self.configurations}
        return replace(self, configurations=tuple(replace(c, search=c.search.smaller()) for c in chosen.values()))


def plan(only: list[str], smoke: bool) -> list[Group]:
    """The groups of these names, or all."""
    groups = [group for group in GROUPS if not only or group.name in only]
    return [group.smaller() for group in groups] if smoke else groups


def searches(groups: list[Group]) -> list[Search]:
    """Each once, though several groups may have it."""
    return list(dict.fromkeys(c.search for group in groups for c in group.configurations))


def seconds_max(groups: list[Group], within_s: int) -> float:
    """The longest that all searches may take: each begins no run after its time is over."""
    return sum(within_s + search.run_seconds for search in searches(groups))


def _search(scenario: str, begin: int, most: int, vary: str = "load", setup: Setup = Setup(), **variables) -> Search:
    timing = {"gather": 2, "seconds": 8, "drain": "2s"} | variables
    pairs = tuple((name, str(value)) for name, value in timing.items())
    return Search(scenario, pairs, begin, most, vary, setup=setup)


def _chat(begin: int, interval: str = "100ms", size: int = 128, setup: Setup = Setup(), **variables) -> Search:
    """Rooms of ten."""
    most = CONNECTIONS_PER_SHARD // 10
    facts = {"members": 10, "interval": interval, "size": size} | variables
    return _search("capacity/chat.yaml", begin, most, setup=setup, **facts)


def _one_channel(users: int, begin: int) -> Configuration:
    search = _search("capacity/one-channel.yaml", begin, 1_000_000 // users * 10, users=users)
    return Configuration(f"{users:,} users", replace(search, smoke_least=20), per_load=users)


def _rooms_of_1000(messages: int, begin: int) -> Configuration:
    variables = {"members": 1000, "interval": f"{1000 // messages}s", "size": 128}
    search = _search("capacity/chat.yaml", begin, CONNECTIONS_PER_SHARD // 1000, **variables)
    return Configuration(f"{messages} messages a second each", search, per_load=1000 * messages)


def _come_and_go(visit: int, pause: float, begin: int) -> Configuration:
    search = _search("capacity/come-and-go.yaml", begin, 3000, visit=visit, pause=pause, seconds=10, rooms=100)
    # It has no crowd that gathers.
    variables = tuple(pair for pair in search.variables if pair[0] != "gather")
    search = replace(search, variables=variables, smoke_least=20)
    return Configuration(f"visits of {visit} s, a message each {pause:g} s", search)


def _hot_rooms(exponent: float, begin: int) -> Configuration:
    variables = {"exponent": exponent, "rooms": 1000, "interval": "1s", "seconds": 6}
    search = _search("hot-rooms.yaml", begin, CONNECTIONS_PER_SHARD, "users", **variables)
    return Configuration("all rooms alike" if exponent == 0 else f"exponent {exponent:g}", search)


def _echo(size: int, begin: int) -> Configuration:
    beats_per_s = 10
    name = f"{size} B" if size < 1024 else f"{size // 1024} KiB"
    variables = {"beat": "100ms", "path": "/echo/websocket", "seconds": 7}
    if size == 17:
        search = _search("capacity/ping.yaml", begin, CONNECTIONS_PER_SHARD, **variables)
    else:
        search = _search("echo-paced.yaml", begin, CONNECTIONS_PER_SHARD, "clients", size=size, **variables)
    return Configuration(name, search, per_load=beats_per_s)


def _http(requests: int, begin: int) -> Configuration:
    variables = {"members": 10, "interval": "100ms", "size": 128}
    variables |= {"requests": requests, "visitors": max(requests // 10, 10)}
    search = _search("capacity/http-beside.yaml", begin, CONNECTIONS_PER_SHARD // 10, **variables)
    search = replace(search, until=(*UNTIL, "p99(http) < 250ms"))
    return Configuration(f"{requests:,} requests a second", search, DELIVERIES)


# Of a room of ten in which each says something ten times a second.
DELIVERIES = 10 * 10 * 10.0

# As it is in several groups, which compare it with one thing changed.
USUAL = _chat(begin=150)

GROUPS = (
    Group(
        "one-channel",
        "One channel with X users who send Y messages",
        "messages per second in total",
        "deliveries per second",
        (_one_channel(10, 40_000), _one_channel(100, 5000), _one_channel(1000, 250), _one_channel(10_000, 40)),
    ),
    Group(
        "rooms-of-1000",
        "X channels of 1000 users",
        "channels",
        "deliveries per second",
        (_rooms_of_1000(5, 12), _rooms_of_1000(10, 8)),
    ),
    Group(
        "come-and-go",
        "Users who arrive and leave",
        "arrivals per second",
        "arrivals per second",
        (_come_and_go(3, 1, 500), _come_and_go(1, 0.5, 1000)),
    ),
    Group(
        "hot-rooms",
        "Hot rooms: members choose one of 1000 rooms by Zipf's law",
        "members, each sending one message per second",
        "members",
        (_hot_rooms(0, 6000), _hot_rooms(0.8, 3000), _hot_rooms(1.1, 1500), _hot_rooms(1.4, 1200)),
    ),
    Group(
        "sizes",
        "Message sizes, echo",
        "clients, each sending ten messages per second",
        "round trips per second",
        (
            *(_echo(size, 5000) for size in (17, 64, 256)),
            *(_echo(1024, 4500), _echo(4096, 3500), _echo(16_384, 2000), _echo(65_536, 600)),
        ),
    ),
    Group(
        "room-sizes",
        "Message sizes in rooms of ten",
        "rooms",
        "deliveries per second",
        tuple(
            Configuration(f"{size:,} B", search, DELIVERIES)
            for size, search in ((128, USUAL), (1024, _chat(130, size=1024)), (8000, _chat(80, size=8000)))
        ),
    ),
    Group(
        "frequencies",
        "Message rates of each member in rooms of ten",
        "rooms",
        "deliveries per second",
        (
            Configuration("once a second", _chat(900, interval="1s"), DELIVERIES / 10),
            Configuration("10 times a second", USUAL, DELIVERIES),
            Configuration("100 times a second", _chat(16, interval="10ms"), DELIVERIES * 10),
        ),
    ),
    Group(
        "compression",
        "Compression (permessage-deflate), 512 bytes of prose in rooms of ten",
        "rooms",
        "deliveries per second",
        tuple(
            Configuration(name, _chat(80, size=512, words=PROSE[:464], deflate=flag, setup=setup), DELIVERIES)
            for name, flag, setup in (("off", "false", Setup()), ("on", "true", Setup(compression=True)))
        ),
    ),
    Group(
        "tls",
        "TLS, rooms of ten",
        "rooms",
        "deliveries per second",
        (Configuration("off", USUAL, DELIVERIES), Configuration("on", _chat(110, setup=Setup(tls=True)), DELIVERIES)),
    ),
    Group(
        "http",
        "HTTP and WebSocket: other clients fetch the page while rooms of ten talk",
        "rooms",
        "deliveries per second",
        (Configuration("no requests", USUAL, DELIVERIES), _http(100, 130), _http(1000, 120)),
    ),
    Group(
        "shards",
        "Shards, rooms of ten; server and generator share all cores",
        "rooms",
        "deliveries per second",
        tuple(
            Configuration(f"{shards} shard{'s' if shards > 1 else ''}", search, DELIVERIES)
            for shards in (1, 2)
            for search in [_chat(120, setup=Setup(shards=shards, shares_cores=True))]
        ),
    ),
)
