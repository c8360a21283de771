"""Who takes part in the competition, and how each is visited: the floor, Throng in two ways, and the peers.

A visit says what the load driver speaks with a server to measure one thing. A server that has no visit of a kind is not
measured in it.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from runner.competition.peers import NotInstalled, Peer, read_all
from runner.servers import Floor, Throng

# What can be measured of a server.
MEMORY, ECHO, BROADCAST, C10K = "memory", "echo", "broadcast", "c10k"

FLOOR = "floor"
OURS = ("throng", "throng-channels")

THRONG_ECHO_PATH = "/echo/websocket"
THRONG_SOCKET_PATH = "/socket/websocket"


@dataclass(frozen=True)
class Visit:
    """How the driver speaks to a server."""

    path: str = "/"
    # Of `bench-load hold` and `bench-load broadcast`.
    dialect: str = "plain"
    # The command of `bench-load` for messages that come back.
    echo: str = "echo"
    # What the floor is told to play.
    exchange: str = "echo"


@dataclass(frozen=True)
class Entrant:
    """A server with a name, what it is, and its visits by what they measure."""

    name: str
    title: str
    language: str
    library: str
    version: str
    settings: str
    server: Floor | Throng | Peer
    visits: dict[str, Visit]


def find(bin_dir: Path, throng: Path, peers: Path, cache: Path, wanted) -> tuple[list[Entrant], dict[str, str]]:
    """The entrants that `wanted` (a function of the name) asks for; and why those are missing that are not there."""
    entrants, missing = [], {}
    for entrant, binary in own(bin_dir, throng):
        if not wanted(entrant.name):
            continue
        if binary.exists():
            entrants.append(entrant)
        else:
            missing[entrant.name] = f"{binary.name} is not in --bin-dir"
    for peer in filter(lambda peer: wanted(peer.name), read_all(peers, cache)):
        print(f"installing {peer.name} …", file=sys.stderr, flush=True)
        try:
            peer.install()
        except NotInstalled as reason:
            missing[peer.name] = str(reason)
        else:
            entrants.append(of_peer(peer))
    return entrants, missing


def names(peers: Path, cache: Path) -> list[str]:
    """Everyone who could take part."""
    return [FLOOR, *OURS, *(peer.name for peer in read_all(peers, cache))]


def of_peer(peer: Peer) -> Entrant:
    """A peer echoes on any path, and passes what comes on /broadcast on to everyone there."""
    visits = {}
    if "echo" in peer.scenarios:
        visits |= {kind: Visit() for kind in (MEMORY, ECHO, C10K)}
    if "broadcast" in peer.scenarios:
        visits[BROADCAST] = Visit(path="/broadcast")
    if "nats-broadcast" in peer.scenarios:
        visits[BROADCAST] = Visit(dialect="nats")
    return Entrant(
        peer.name, peer.title, peer.language, peer.library, peer.version(), peer.settings, peer, visits
    )


def own(bin_dir: Path, throng: Path) -> list[tuple[Entrant, Path]]:
    """What this repository builds, each with its program."""
    floor = Entrant(
        FLOOR,
        "the floor",
        "Rust",
        "epoll, fixed bytes, no parsing",
        "of this commit",
        "one thread",
        Floor(bin_dir / "floor"),
        {
            MEMORY: Visit(),
            ECHO: Visit(),
            BROADCAST: Visit(THRONG_SOCKET_PATH, "phoenix", exchange="broadcast"),
            C10K: Visit(exchange="c10k"),
        },
    )
    raw = Entrant(
        "throng",
        "Throng, plain WebSocket",
        "Rust",
        "the echo mount",
        "of this commit",
        "one shard, profile load-test",
        Throng(throng),
        {kind: Visit(THRONG_ECHO_PATH) for kind in (MEMORY, ECHO, C10K)},
    )
    channels = Entrant(
        "throng-channels",
        "Throng, Phoenix channels",
        "Rust",
        "a joined channel, V1",
        "of this commit",
        "one shard, profile load-test; also decodes JSON messages and routes them by topic",
        Throng(throng),
        {
            MEMORY: Visit(THRONG_SOCKET_PATH, "phoenix"),
            ECHO: Visit(THRONG_SOCKET_PATH, "phoenix", echo="channel-echo"),
            BROADCAST: Visit(THRONG_SOCKET_PATH, "phoenix"),
        },
    )
    return [(floor, bin_dir / "floor"), (raw, throng), (channels, throng)]
