"""Some nodes with an engine between them, and their clients. Needs target/debug/throng (THRONG_BIN names another)."""

import sys
import tempfile
import unittest
from pathlib import Path

from client import Client
from harness.engines import Engine, Nats, Redis
from harness.programs import HOST, wait_until
from node import Node

KEPT, FLEETING, SHORT = "rooms:kept", "rooms:fleeting", "rooms:short"
HISTORIES = "rooms:kept* messages=10000 age=10m, rooms:short* messages=10 age=10m"
SETTINGS = {"THRONG_HISTORY_TOPICS": HISTORIES, "THRONG_SHUTDOWN_SPREAD": "500ms"}


class Cluster(unittest.TestCase):
    engine: type[Engine] = Redis

    def __init_subclass__(cls, on_nats: bool = True) -> None:
        """Makes of each class of cases, which runs on Redis, another that runs on NATS: none can be forgotten."""
        if cls.engine is Redis and on_nats:
            name = f"{cls.__name__}OnNats"
            on_nats = type(name, (cls,), {"engine": Nats, "__module__": cls.__module__, "__qualname__": name})
            setattr(sys.modules[cls.__module__], name, on_nats)

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="throng-cluster-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.clients: list[Client] = []
        self.addCleanup(self.leave)

    def leave(self) -> None:
        for client in self.clients:
            client.close()

    def start_engine(self, password: str = "", host: str = HOST, settings: tuple = ()) -> Engine:
        engine = self.engine(self.folder, password, host, *settings)
        self.addCleanup(lambda: engine.process.kill())
        return engine

    def start_server(self, name: str, url: str) -> Node:
        server = Node(self.folder, name, {**SETTINGS, "THRONG_BUS_URL": url})
        self.addCleanup(lambda: server.process.kill())
        return server

    def start(self, nodes: int, settings: tuple = ()) -> tuple[Engine, list[Node]]:
        """`settings`: of the engine, further words of its command."""
        engine = self.start_engine(settings=settings)
        servers = [self.start_server(f"node-{number}", engine.url) for number in range(nodes)]
        for server in servers:
            server.wait_for_bus()
        wait_until("every node knows the others", lambda: all(s.metric("throng_bus_nodes") == nodes for s in servers))
        return engine, servers

    def client(self, server: Node, topic: str, **params) -> Client:
        client = Client(server.port, topic, host=server.address, **params)
        self.clients.append(client)
        return client

    def assert_each_once(self, client: Client, bodies: list[str]) -> None:
        client.wait_for_bodies(bodies)
        self.assertEqual(sorted(client.bodies()), sorted(bodies))
