"""Throng behind HAProxy and nginx, with the configurations that are shipped in deploy/.

Needs target/debug/throng (THRONG_BIN names another), both balancers, Redis, NATS, and the npm packages of
tests/clients."""

import signal
import tempfile
import time
import unittest
from pathlib import Path

from balancer import SERVERS, Balancer
from clients import Client, Crowd
from harness.engines import Engine, Nats, Redis
from harness.programs import HOST, free_port, wait_until
from harness.server import Server
from harness.websocket import Refused

ANNOUNCED = {"THRONG_PROXY_PROTOCOL": "v2"}
ROUND_ROBIN = {"HAProxy": Path("haproxy/round-robin.cfg"), "nginx": Path("nginx/round-robin.conf")}
ROOM_HASH = {"HAProxy": Path("haproxy/room-hash.cfg"), "nginx": Path("nginx/room-hash.conf")}


class Behind(unittest.TestCase):
    """Two servers behind each balancer in turn."""

    def setUp(self) -> None:
        self.clients: list[Client] = []

    def start(
        self, configuration: Path, settings: dict[str, str] | None = None, bus: type[Engine] | None = None
    ) -> None:
        """Servers and balancer, and a bus if there is to be one; ended with the test, or by the next start."""
        self.doCleanups()
        folder = tempfile.TemporaryDirectory(prefix="throng-balancer-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        port, admin_port = free_port(*SERVERS), free_port(*SERVERS)
        by_way = ANNOUNCED if configuration == ROOM_HASH["HAProxy"] else {}
        always = {"THRONG_SOCKET_ROOM_IN_PATH": "true", "THRONG_TRUSTED_PROXIES": HOST}
        if bus:
            engine = bus(self.folder)
            self.addCleanup(engine.process.kill)
            always["THRONG_BUS_URL"] = engine.url
        self.servers = []
        for address in SERVERS:
            own = {**by_way, **always, **(settings or {})}
            if bus:
                own["THRONG_BUS_LISTEN"] = f"{address}:0"
            server = Server(self.folder, address, own, address, port, admin_port)
            self.servers.append(server)
            self.addCleanup(lambda server=server: server.process.kill())
        self.balancer = Balancer(self.folder / "balancer", configuration, self.servers)
        self.addCleanup(self.balancer.process.end)
        self.addCleanup(self.leave)

    def leave(self) -> None:
        while self.clients:
            self.clients.pop().close()

    def open(self, path: str = "/socket/websocket", source: str = "127.0.0.1") -> Client:
        client = Client(self.balancer.port, path, source)
        self.clients.append(client)
        return client

    def members_of(self, topic: str) -> dict[str, int]:
        """How many of a topic's members each server has that has any."""
        found = {server.address: server.members().get(topic, 0) for server in self.servers_that_run()}
        return {address: members for address, members in found.items() if members > 0}

    def servers_that_run(self) -> list[Server]:
        return [server for server in self.servers if server.process.is_running()]


class InTurn(Behind):
    def test_sockets_are_spread_over_both_servers(self) -> None:
        for name, configuration in ROUND_ROBIN.items():
            with self.subTest(balancer=name):
                self.start(configuration)
                for _ in range(20):
                    self.open().join("rooms:lobby")
                members = [server.members()["rooms:lobby"] for server in self.servers]
                self.assertEqual(sum(members), 20)
                self.assertGreaterEqual(min(members), 8, members)

    def test_the_servers_know_each_clients_address(self) -> None:
        for name, configuration in ROUND_ROBIN.items():
            with self.subTest(balancer=name):
                self.start(configuration, {"THRONG_LIMITS_CONNECTIONS_PER_IP": "2"})
                for source in ("127.0.2.1", "127.0.2.2"):
                    for _ in range(4):
                        self.open(source=source)
                    with self.assertRaises(Refused) as refused:
                        self.open(source=source)
                    self.assertEqual(refused.exception.status, 429)

    def test_a_server_that_ends_sends_its_clients_to_the_other_and_nobody_fails(self) -> None:
        for name, configuration in ROUND_ROBIN.items():
            with self.subTest(balancer=name):
                self.start(configuration, {"THRONG_SHUTDOWN_NOTICE": "2500ms", "THRONG_SHUTDOWN_SPREAD": "1s"})
                crowd = Crowd(self.balancer.port, 20, self.folder)
                try:
                    crowd.wait_for("joined", 20)
                    self.end_under_way(crowd)
                finally:
                    crowd.end()

    def end_under_way(self, crowd: Crowd) -> None:
        ending, staying = self.servers
        ending.process.signal(signal.SIGTERM)
        wait_until("it is not ready", lambda: ending.readiness()[0] == 503)
        opened = 0
        while ending.process.is_running():
            # Who comes finds a server, whichever, and at the first try.
            Client(self.balancer.port, source="127.0.2.3").close()
            opened += 1
            time.sleep(0.02)
        self.assertEqual(ending.process.wait(), 0)
        self.assertGreater(opened, 0)
        wait_until("all are on the other", lambda: len(staying.members()) == 20)
        events = []
        while not crowd.events.empty():
            events.append(crowd.events.get())
        closed = [event for event in events if event["event"] == "closed"]
        self.assertGreater(len(closed), 0)
        self.assertEqual({event["code"] for event in closed}, {1012})
        self.assertEqual([event for event in events if event["event"] in ("failed", "refused")], [])


class Polling(Behind):
    """Clients without WebSockets: each of their requests goes to the next server, and their sessions stay."""

    ROOM = "rooms:polled"
    COUNT = 6
    bus: type[Engine] = Redis
    balancers = ROUND_ROBIN

    def start_polling(self, configuration: Path) -> Crowd:
        self.start(configuration, bus=self.bus)
        both = lambda: all(server.metric("throng_bus_nodes") == 2 for server in self.servers)
        wait_until("the servers know each other", both)
        crowd = Crowd(self.balancer.port, self.COUNT, self.folder, "longpoll", self.ROOM)
        self.addCleanup(crowd.end)
        crowd.wait_for("joined", self.COUNT)
        return crowd

    def all_speak(self, crowd: Crowd, what: str) -> None:
        """Everybody says something, and everybody hears each of it once."""
        crowd.forget()
        bodies = [f"{what} {client}" for client in range(self.COUNT)]
        for client, body in enumerate(bodies):
            crowd.say(client, body)
        events = crowd.wait_for("heard", self.COUNT**2)
        heard = sorted((event["client"], event["body"]) for event in events if event["event"] == "heard")
        self.assertEqual(heard, sorted((client, body) for client in range(self.COUNT) for body in bodies))
        self.assertEqual([event for event in events if event["event"] in ("closed", "failed", "rejected")], [])

    def forwarded(self, outcome: str) -> list[float]:
        return [server.metric(f'throng_longpoll_forwarded_total{{outcome="{outcome}"}}') for server in self.servers]

    def test_sessions_are_found_whichever_server_a_request_comes_to(self) -> None:
        for name, configuration in self.balancers.items():
            with self.subTest(balancer=name):
                crowd = self.start_polling(configuration)
                self.assertEqual(len(self.members_of(self.ROOM)), 2, "both have sessions")
                for turn in range(5):
                    self.all_speak(crowd, f"turn {turn}")
                self.assertGreater(min(self.forwarded("answered")), 0)
                self.assertEqual((self.forwarded("gone"), self.forwarded("unreachable")), ([0, 0], [0, 0]))
                sessions = [server.metric("throng_longpoll_sessions") for server in self.servers]
                self.assertEqual(sum(sessions), self.COUNT, "nobody was given a second one")

    def test_clients_of_a_server_that_was_killed_begin_anew_on_the_other(self) -> None:
        for name, configuration in self.balancers.items():
            with self.subTest(balancer=name):
                crowd = self.start_polling(configuration)
                killed, staying = self.servers
                lost = self.members_of(self.ROOM)[killed.address]
                killed.process.kill()
                crowd.wait_for("joined", lost)
                # A client whose request went by way of the killed server may have begun anew, too.
                sessions = lambda: (staying.members().get(self.ROOM), staying.metric("throng_longpoll_sessions"))
                wait_until("all are on the other", lambda: sessions() == (self.COUNT, self.COUNT))
                self.all_speak(crowd, "afterwards")


class PollingOnNats(Polling):
    """The same; the balancer makes no difference to the bus."""

    bus = Nats
    balancers = {"HAProxy": ROUND_ROBIN["HAProxy"]}


class ByRoom(Behind):
    ROOMS = [f"room-{number}" for number in range(30)]

    def test_a_room_stays_on_its_server_when_another_goes_and_comes(self) -> None:
        for name, configuration in ROOM_HASH.items():
            with self.subTest(balancer=name):
                self.start(configuration)
                before = self.enter_all()
                self.assertEqual(self.servers_of(before), set(SERVERS), "both have rooms")

                gone, staying = self.servers
                gone.process.kill()
                wait_until("all are on the other", lambda: self.is_served_by_one(staying))
                self.assertEqual(self.servers_of(self.enter_all()), {staying.address})

                gone.start()
                # The balancer may notice between a room's two clients.
                wait_until("it gets its rooms again", lambda: self.enter_all() == before)

    def servers_of(self, rooms: dict[str, dict[str, int]]) -> set[str]:
        """Where rooms are, each with its two clients on one server."""
        for room, servers in rooms.items():
            self.assertEqual(list(servers.values()), [2], f"{room} is on one server")
        return {server for servers in rooms.values() for server in servers}

    def enter_all(self) -> dict[str, dict[str, int]]:
        """Two clients into each room, one by its path and one by its query. How many of each room each server has."""
        self.leave()
        wait_until("nobody is there", lambda: not any(server.members() for server in self.servers_that_run()))
        for room in self.ROOMS:
            for path in (f"/socket/{room}/websocket", f"/socket/websocket?room={room}"):
                self.open(path).join(f"rooms:{room}")
        return {room: self.members_of(f"rooms:{room}") for room in self.ROOMS}

    def is_served_by_one(self, staying: Server) -> bool:
        """Whether the balancer has noticed."""
        self.leave()
        try:
            for room in self.ROOMS:
                self.open(f"/socket/{room}/websocket")
        except Refused:
            return False
        return staying.readiness()[0] == 200

    def test_the_servers_know_each_clients_address(self) -> None:
        for name, configuration in ROOM_HASH.items():
            with self.subTest(balancer=name):
                self.start(configuration, {"THRONG_LIMITS_CONNECTIONS_PER_IP": "2"})
                for source in ("127.0.2.1", "127.0.2.2"):
                    for _ in range(2):
                        self.open("/socket/lobby/websocket", source)
                    with self.assertRaises(Refused) as refused:
                        self.open("/socket/lobby/websocket", source)
                    self.assertEqual(refused.exception.status, 429)


if __name__ == "__main__":
    unittest.main()
