"""Several nodes with an engine between them: what members of one room are told, wherever they are and whatever dies.

Every case runs on Redis, and once more on NATS. Needs target/debug/throng (THRONG_BIN names another) and both
servers."""

import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGCONT, SIGSTOP, SIGTERM

from client import Client
from harness.engines import Engine, Nats, Proxy, Redis
from harness.programs import DEADLINE_SECONDS, foreign_variables, free_port, throng, wait_until
from node import Node

KEPT, FLEETING = "rooms:kept", "rooms:fleeting"
SETTINGS = {"THRONG_HISTORY_TOPICS": "rooms:kept* messages=10000 age=10m", "THRONG_SHUTDOWN_SPREAD": "500ms"}
# The people of a node that was killed may be seen for so long (docs/operations.md).
LEASE_SECONDS_MAX = 10
# What somebody does on one node is seen on the others within this: a lost change is told again after one second.
SEEN_SECONDS_MAX = 5
# For what the machine's lateness, which is measured, does not show.
MARGIN_SECONDS = 2
PULSE_SECONDS = 0.05


class Cluster(unittest.TestCase):
    engine: type[Engine] = Redis

    def __init_subclass__(cls) -> None:
        """Makes of each class of cases, which runs on Redis, another that runs on NATS: none can be forgotten."""
        if cls.engine is Redis:
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

    def start_engine(self, password: str = "") -> Engine:
        engine = self.engine(self.folder, password)
        self.addCleanup(lambda: engine.process.kill())
        return engine

    def start_server(self, name: str, url: str) -> Node:
        server = Node(self.folder, name, {**SETTINGS, "THRONG_BUS_URL": url})
        self.addCleanup(lambda: server.process.kill())
        return server

    def start(self, nodes: int) -> tuple[Engine, list[Node]]:
        engine = self.start_engine()
        servers = [self.start_server(f"node-{number}", engine.url) for number in range(nodes)]
        for server in servers:
            server.wait_for_bus()
        wait_until("every node knows the others", lambda: all(s.metric("throng_bus_nodes") == nodes for s in servers))
        return engine, servers

    def client(self, server: Node, topic: str, **params) -> Client:
        client = Client(server.port, topic, **params)
        self.clients.append(client)
        return client

    def assert_each_once(self, client: Client, bodies: list[str]) -> None:
        client.wait_for_bodies(bodies)
        self.assertEqual(sorted(client.bodies()), sorted(bodies))


class Messages(Cluster):
    def test_each_message_reaches_each_member_on_every_node_once(self) -> None:
        _, servers = self.start(3)
        for topic in (FLEETING, KEPT):
            members = [self.client(server, topic) for server in servers for _ in range(3)]
            speakers = members[::3]
            said = [[f"{topic} {name} {number}" for number in range(50)] for name in range(len(speakers))]
            with ThreadPoolExecutor() as pool:
                # Taken from it, an error of a speaker is one of the test.
                list(pool.map(self.say_all, speakers, said))
            for member in members:
                self.assert_each_once(member, [body for bodies in said for body in bodies])
                for bodies in said:
                    heard = [body for body in member.bodies() if body in bodies]
                    self.assertEqual(heard, bodies, "what one says is heard in its order")
        orders = [member.bodies() for member in members]
        self.assertTrue(all(order == orders[0] for order in orders), "a recoverable topic has one order")

    def say_all(self, speaker: Client, bodies: list[str]) -> None:
        for body in bodies:
            self.assertEqual(speaker.say(body)["status"], "ok")

    def test_what_is_said_where_nobody_listens_costs_a_node_nothing(self) -> None:
        _, servers = self.start(3)
        here, there = self.client(servers[0], FLEETING), self.client(servers[1], FLEETING)
        here.say("one")
        self.assert_each_once(there, ["one"])
        self.assertEqual(servers[1].metric('throng_bus_publications_total{origin="bus"}'), 1)
        self.assertEqual(servers[0].metric('throng_bus_publications_total{origin="local"}'), 1)
        self.assertEqual(servers[2].metric('throng_bus_publications_total{origin="bus"}'), 0)
        self.assertEqual(servers[2].metric("throng_bus_subscriptions"), 0)


class Dismissals(Cluster):
    def test_sockets_are_closed_by_their_id_on_every_node(self) -> None:
        _, servers = self.start(3)
        ann = [self.client(server, FLEETING, socket="ann") for server in servers for _ in range(2)]
        bob = [self.client(server, FLEETING, socket="bob") for server in servers]
        self.assertEqual(servers[0].disconnect("ann"), 202)
        for client in ann:
            client.wait_until_gone()
        # As an application does that tells a socket's own topic.
        self.assertEqual(servers[1].publish("bob", "disconnect", {}), 202)
        for client in bob:
            client.wait_until_gone()

    def test_who_has_another_id_stays(self) -> None:
        _, servers = self.start(2)
        ann, bob = (self.client(servers[1], FLEETING, socket=name) for name in ("ann", "bob"))
        self.assertEqual(servers[0].disconnect("ann"), 202)
        ann.wait_until_gone()
        bob.say("here")
        self.assert_each_once(bob, ["here"])

    def test_while_the_engine_is_away_a_node_closes_its_own_and_says_that_the_others_do_not_know(self) -> None:
        engine, servers = self.start(2)
        here, there = (self.client(server, FLEETING, socket="ann") for server in servers)
        engine.process.kill()
        for server in servers:
            server.wait_until_bus_is_away()
        self.assertEqual(servers[0].disconnect("ann"), 503)
        here.wait_until_gone()
        there.say("still here")
        self.assert_each_once(there, ["still here"])
        engine.start()
        for server in servers:
            server.wait_for_bus()
        self.assertEqual(servers[0].disconnect("ann"), 202)
        there.wait_until_gone()


class Deaths(Cluster):
    def test_clients_of_a_node_that_was_killed_recover_everything_elsewhere(self) -> None:
        _, servers = self.start(3)
        speaker = self.client(servers[0], KEPT)
        stay = self.client(servers[1], KEPT)
        lose = [self.client(servers[2], KEPT) for _ in range(3)]
        said = [str(number) for number in range(200)]
        for body in said[:50]:
            speaker.say(body)
        servers[2].process.kill()
        for client in lose:
            client.wait_until_gone()
        for body in said[50:150]:
            speaker.say(body)
        for number, client in enumerate(lose):
            reply = client.connect(servers[number % 2].port)
            self.assertTrue(reply["response"]["recover"].get("recovered"), reply)
        for body in said[150:]:
            speaker.say(body)
        for client in (stay, *lose):
            client.wait_for_bodies(said)
            self.assertEqual(client.bodies(), said)

    def test_nothing_that_was_accepted_is_lost_when_the_engine_is_killed_and_comes_back(self) -> None:
        engine, servers = self.start(2)
        members = [self.client(server, KEPT) for server in servers for _ in range(2)]
        accepted: list[str] = []

        def speak(speaker: Client, name: str) -> None:
            deadline = time.monotonic() + DEADLINE_SECONDS
            number = 0
            while number < 400 or not back.is_set():
                body = f"{name} {number}"
                if speaker.say(body)["status"] == "ok":
                    accepted.append(body)
                else:
                    time.sleep(0.01)
                number += 1
                assert time.monotonic() < deadline, "the engine did not come back"

        back = threading.Event()
        with ThreadPoolExecutor() as pool:
            speaking = [pool.submit(speak, members[at], f"speaker {at}") for at in (0, 2)]
            wait_until("some were accepted", lambda: len(accepted) > 100)
            engine.process.kill()
            for server in servers:
                server.wait_until_bus_is_away()
            engine.start()
            for server in servers:
                server.wait_for_bus()
            before = len(accepted)
            wait_until("some were accepted again", lambda: len(accepted) > before + 100)
            back.set()
            for speaker in speaking:
                speaker.result()
        for member in members:
            member.wait_for_bodies(accepted)
            heard = member.bodies()
            self.assertEqual(len(heard), len(set(heard)), "nothing is heard twice")
        # Of what was under way when the engine died it is not known whether it was taken, but all hear the same.
        orders = [[body for body in member.bodies() if body in set(accepted)] for member in members]
        self.assertTrue(all(order == orders[0] for order in orders))
        self.assertTrue(all(server.metric("throng_bus_connects_total") == 2 for server in servers))

    def test_members_are_told_when_the_engine_comes_back_with_nothing(self) -> None:
        engine, servers = self.start(2)
        here, there = self.client(servers[0], KEPT), self.client(servers[1], KEPT)
        here.say("before")
        there.wait_for_bodies(["before"])
        position = dict(there.params["recover"])
        engine.process.kill()
        for server in servers:
            server.wait_until_bus_is_away()
        engine.forget()
        engine.start()
        for client in (here, there):
            client.wait_for_event("gap")
        there.wait_for_bodies([here.say_until_accepted("after")])
        there.cut()
        there.params["recover"] = position
        reply = there.connect(servers[0].port)
        self.assertEqual((reply["response"]["recover"]["recovered"], reply["response"]["recover"]["reason"]), (False, "epoch"))

    def test_an_engine_killed_amid_traffic_loses_nothing_that_is_kept_and_members_of_other_rooms_are_told_once(self) -> None:
        engine, servers = self.start(2)
        fleeting, kept = ([self.client(server, topic) for server in servers] for topic in (FLEETING, KEPT))
        accepted: list[str] = []
        done = threading.Event()
        with ThreadPoolExecutor() as pool:
            speaking = [pool.submit(self.speak_until, done, speaker, accepted) for speaker in (*fleeting, *kept)]
            try:
                wait_until("some were accepted", lambda: len(accepted) > 50)
                engine.process.kill()
                for server in servers:
                    server.wait_until_bus_is_away()
                meanwhile = self.client(servers[0], FLEETING)
                engine.start()
                for client in (*fleeting, meanwhile):
                    client.wait_for_event("gap")
                before = len(accepted)
                wait_until("some were accepted again", lambda: len(accepted) > before + 50)
            finally:
                done.set()
            for speaker in speaking:
                speaker.result()
        late = self.client(servers[1], FLEETING)
        fleeting[0].say("after")
        for client in (*fleeting, meanwhile, late):
            client.wait_for_bodies(["after"])
        for client in (*fleeting, meanwhile):
            self.assertEqual(client.events("gap"), [{"reason": "bus"}])
        self.assertEqual(late.events("gap"), [], "who came when it was over missed nothing")
        for member in kept:
            member.wait_for_bodies(accepted)
            heard = member.bodies()
            self.assertEqual(len(heard), len(set(heard)), "nothing is heard twice")
            self.assertEqual(member.events("gap"), [])
        for server in servers:
            self.assertGreaterEqual(server.metric("throng_gaps_told_total"), 1)

    def speak_until(self, done: threading.Event, speaker: Client, accepted: list[str]) -> None:
        """Notes what is accepted for the history."""
        number = 0
        while not done.wait(0.01):
            body = f"{speaker.port} {number}"
            if speaker.say(body)["status"] == "ok" and speaker.topic == KEPT:
                accepted.append(body)
            number += 1

    def test_while_the_engine_is_away_rooms_go_on_within_a_node_and_ordered_ones_say_so(self) -> None:
        engine, servers = self.start(2)
        fleeting = [self.client(servers[0], FLEETING) for _ in range(2)]
        kept = self.client(servers[0], KEPT)
        engine.process.kill()
        said = servers[0].wait_until_bus_is_away("it cannot be reached")
        self.assertTrue(said.startswith("ready\n"), "the node is wanted all the same")
        self.assertEqual(servers[0].metric("throng_bus_up"), 0)
        fleeting[0].say("here")
        self.assert_each_once(fleeting[1], ["here"])
        late = self.client(servers[0], FLEETING)
        late.say("too")
        fleeting[1].wait_for_bodies(["too"])
        self.assertEqual(kept.say("lost"), {"status": "error", "response": {"reason": "unavailable"}})
        engine.start()
        servers[0].wait_for_bus()
        servers[1].wait_for_bus()
        self.assertEqual(servers[0].metric("throng_bus_up"), 1)
        kept.say_until_accepted("found")
        far = self.client(servers[1], FLEETING)

        def reaches() -> bool:
            far.say("again")
            return "again" in late.bodies()

        wait_until("rooms span the nodes again", reaches)

    def test_a_node_finds_its_bus_when_that_comes_later(self) -> None:
        port = free_port()
        server = self.start_server("early", f"{self.engine.scheme}://127.0.0.1:{port}")
        alone = [self.client(server, FLEETING) for _ in range(2)]
        alone[0].say("alone")
        alone[1].wait_for_bodies(["alone"])
        server.wait_until_bus_is_away("it cannot be reached")
        engine = self.start_engine()
        engine.process.kill()
        engine.port = port
        engine.start()
        server.wait_for_bus()


class Partitions(Cluster):
    def test_both_sides_of_a_partition_go_on_and_agree_when_it_is_over(self) -> None:
        engine = self.start_engine()
        proxy = Proxy(engine)
        self.addCleanup(proxy.end)
        servers = [self.start_server("near", engine.url), self.start_server("far", proxy.url)]
        for server in servers:
            server.wait_for_bus()
        person = lambda server, key: self.client(server, KEPT, name=key, presence=True, key=key)
        near, far = person(servers[0], "near"), person(servers[1], "far")
        for client in (near, far):
            client.wait_for_people({"near", "far"})
        near.say("before")
        proxy.cut()
        servers[1].wait_until_bus_is_away("it does not answer in time")
        self.assertEqual(far.say("unheard")["response"], {"reason": "unavailable"})
        for number in range(50):
            near.say(f"meanwhile {number}")
        local = [self.client(servers[1], FLEETING) for _ in range(2)]
        local[0].say("local")
        local[1].wait_for_bodies(["local"])
        near.wait_for_people({"near"})
        proxy.heal()
        servers[1].wait_for_bus()
        after = far.say_until_accepted("after")
        said = ["before", *(f"meanwhile {number}" for number in range(50))]
        for client in (near, far):
            client.wait_for_bodies([*said, after])
            client.wait_for_people({"near", "far"})
            heard = [body for body in client.bodies() if not body.startswith("after")]
            self.assertEqual(heard, said)

    def test_an_engine_that_falls_silent_is_noticed_and_only_its_side_is_told_what_may_be_lost(self) -> None:
        engine = self.start_engine()
        proxy = Proxy(engine)
        self.addCleanup(proxy.end)
        servers = [self.start_server("near", engine.url), self.start_server("far", proxy.url)]
        for server in servers:
            server.wait_for_bus()
        near, far = (self.client(server, FLEETING) for server in servers)
        speaker, listener = (self.client(server, KEPT) for server in servers)
        near.say("before")
        far.wait_for_bodies(["before"])
        proxy.cut()
        # Within two seconds by the bus's limits, which the compiler adds up.
        servers[1].wait_until_bus_is_away("it does not answer in time")
        near.say("unheard")
        speaker.say("kept")
        proxy.heal()
        far.wait_for_event("gap")
        listener.wait_for_bodies(["kept"])
        near.say("after")
        far.wait_for_bodies(["after"])
        self.assertEqual(far.bodies(), ["before", "after"])
        self.assertEqual(far.events("gap"), [{"reason": "bus"}])
        for client in (near, speaker, listener):
            self.assertEqual(client.events("gap"), [])


class Deployments(Cluster):
    def test_nodes_are_restarted_one_after_the_other_and_nobody_misses_anything(self) -> None:
        _, servers = self.start(3)
        speaker = self.client(servers[0], KEPT)
        members = [self.client(servers[at % 3], KEPT) for at in range(9)]
        accepted: list[str] = []
        done = threading.Event()
        with ThreadPoolExecutor() as pool:
            speaking = pool.submit(self.speak, speaker, [server.port for server in servers], accepted, done)
            try:
                for server in servers:
                    self.restart(server, servers, members, accepted)
            finally:
                done.set()
            speaking.result()
        # It is the last in the order: who has it has all that comes before.
        accepted.append(speaker.say_until_accepted("last"))
        everybody = [speaker, *members]
        for client in everybody:
            client.wait_for_bodies(accepted)
        for client in everybody:
            heard = client.bodies()
            self.assertEqual(len(heard), len(set(heard)), "nothing is heard twice")
            self.assertEqual([body for body in heard if body in set(accepted)], accepted)
            # Of what was under way when its node ended the speaker does not know whether it was taken, but all hear the same.
            self.assertEqual(heard, members[0].bodies())

    def speak(self, speaker: Client, ports: list[int], accepted: list[str], done: threading.Event) -> None:
        """Goes on speaking, from another node when its own ends. Slowly: one recovery brings a thousand messages at most."""
        number = 0
        while not done.wait(0.02):
            body = str(number)
            number += 1
            try:
                if speaker.say(body)["status"] == "ok":
                    accepted.append(body)
            except OSError:
                speaker.wait_until_gone()
                next_port = ports[(ports.index(speaker.port) + 1) % len(ports)]
                self.assert_recovers(speaker, next_port)

    def restart(self, server: Node, servers: list[Node], members: list[Client], accepted: list[str]) -> None:
        others = [other for other in servers if other is not server]
        leaving = [member for member in members if member.port == server.port]
        self.wait_for_more(accepted)
        server.process.signal(SIGTERM)
        for client in leaving:
            client.wait_until_gone()
        self.wait_for_more(accepted)
        for at, client in enumerate(leaving):
            self.assert_recovers(client, others[at % 2].port)
        self.wait_for_more(accepted)
        server.process.wait()
        server.start()
        server.wait_for_bus()

    def wait_for_more(self, accepted: list[str]) -> None:
        before = len(accepted)
        wait_until("more was said", lambda: len(accepted) > before + 10)

    def assert_recovers(self, client: Client, port: int) -> None:
        reply = client.connect(port)
        self.assertTrue(reply["response"]["recover"].get("recovered"), reply)


class People(Cluster):
    def person(self, server: Node, key: str, topic: str = FLEETING) -> Client:
        return self.client(server, topic, name=key, presence=True, key=key)

    def test_people_of_all_nodes_are_seen_and_those_of_a_killed_one_disappear(self) -> None:
        _, servers = self.start(3)
        ann, bob, cat = (self.person(server, key) for server, key in zip(servers, ("ann", "bob", "cat")))
        for client in (ann, bob, cat):
            client.wait_for_people({"ann", "bob", "cat"})
        began = time.monotonic()
        servers[2].process.kill()
        self.assert_people_within(LEASE_SECONDS_MAX, began, [ann, bob], {"ann", "bob"})
        began = time.monotonic()
        dan = self.person(servers[1], "dan")
        self.assert_people_within(SEEN_SECONDS_MAX, began, [ann, bob, dan], {"ann", "bob", "dan"})
        began = time.monotonic()
        bob.cut()
        self.assert_people_within(SEEN_SECONDS_MAX, began, [ann, dan], {"ann", "dan"})

    def assert_people_within(self, seconds: float, began: float, clients: list[Client], keys: set[str]) -> None:
        """These, and no others, are seen by all of these clients in time.

        A lease is a contract, but the tests' machine may be loaded. So what it was late is not counted: all the while a
        message goes from the first client over the engine to the last one, and what a turn of that takes beyond its pause
        is time in which programs waited for the machine, those that are tested as well."""
        late = 0.0
        while not all(client.people() == keys for client in clients):
            took = time.monotonic() - began - late
            seen = [client.people() for client in clients]
            self.assertLess(took, seconds + MARGIN_SECONDS, f"{keys} are to be seen, not {seen}")
            turn = time.monotonic()
            time.sleep(PULSE_SECONDS)
            body = f"pulse {turn}"
            clients[0].say(body)
            clients[-1].wait_for_bodies([body])
            late += time.monotonic() - turn - PULSE_SECONDS

    def test_a_node_that_stood_still_for_longer_than_its_lease_brings_its_people_back(self) -> None:
        _, servers = self.start(2)
        ann, bob = self.person(servers[0], "ann"), self.person(servers[1], "bob")
        for client in (ann, bob):
            client.wait_for_people({"ann", "bob"})
        servers[0].process.signal(SIGSTOP)
        try:
            bob.wait_for_people({"bob"})
        finally:
            servers[0].process.signal(SIGCONT)
        for client in (ann, bob):
            client.wait_for_people({"ann", "bob"})
        self.assertGreaterEqual(servers[0].metric("throng_bus_connects_total"), 2)

    def test_people_are_known_again_after_the_engine_lost_everything(self) -> None:
        engine, servers = self.start(2)
        ann, bob = self.person(servers[0], "ann"), self.person(servers[1], "bob")
        for client in (ann, bob):
            client.wait_for_people({"ann", "bob"})
        engine.process.kill()
        for server in servers:
            server.wait_until_bus_is_away()
        bob.cut()
        engine.forget()
        engine.start()
        for server in servers:
            server.wait_for_bus()
        cat = self.person(servers[1], "cat")
        for client in (ann, cat):
            client.wait_for_people({"ann", "cat"})


class Mistakes(Cluster):
    def test_a_wrong_password_is_named_and_never_shown(self) -> None:
        engine = self.start_engine(password="right")
        server = self.start_server("locked-out", engine.url_of("somebody", "wr0ng"))
        said = server.wait_until_bus_is_away("it does not let us in")
        self.assertIn("bus.url", said)
        for text in (said, server.log()):
            self.assertNotIn("wr0ng", text)

    def test_an_address_that_is_none_is_an_error_at_the_start(self) -> None:
        for url, wrong in (("http://127.0.0.1", "http://127.0.0.1"), ("ann:s3cret@host", "…@host")):
            ended = self.run_throng("serve", url)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(f'`bus.url` is "{wrong}": write a URL such as', ended.stderr)
            self.assertNotIn("s3cret", ended.stderr)

    def test_the_configuration_is_printed_without_passwords(self) -> None:
        scheme = self.engine.scheme
        printed = self.run_throng("config print", f"{scheme}://ann:s3cret@host:1, {scheme}://s3cret:x@other")
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn(f"{scheme}://…@host:1, {scheme}://…@other", printed.stdout)
        self.assertNotIn("s3cret", printed.stdout)

    def run_throng(self, command: str, url: str) -> subprocess.CompletedProcess[str]:
        words = [throng(), *command.split(), "--set", f"bus.url={url}"]
        options = {"env": foreign_variables(), "capture_output": True, "text": True, "timeout": DEADLINE_SECONDS}
        return subprocess.run(words, **options)


if __name__ == "__main__":
    unittest.main()
