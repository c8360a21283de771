"""Whatever dies or is cut off, a node, the engine or the way between them: who stays is told everything once.

Every case runs on Redis, and once more on NATS. Needs target/debug/throng (THRONG_BIN names another) and both
servers."""

import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from signal import SIGCONT, SIGSTOP

from client import Client
from cluster import FLEETING, KEPT, Cluster
from harness.engines import Proxy
from harness.programs import DEADLINE_SECONDS, free_port, wait_until
from node import Node

# What Redis keeps for a node that takes nothing; and what it is given for it at most, as the kernel keeps some, too.
WAITING = ("--client-output-buffer-limit", "pubsub", "2mb", "2mb", 0)
LARGE_BYTES, LARGE_MESSAGES_MAX = 8000, 8000
# An engine that falls silent is noticed within two seconds by the bus's limits; the rest is for the tests' machine.
SILENCE_NOTICED_SECONDS_MAX = 2 + 10
# A NATS server is asked whether it has everything with each sign of life, every 0.4 s.
CONFIRMED_SECONDS = 1


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
            # Once more on the node that was back first: meanwhile somebody spoke on the other.
            self.assertIn(client.events("gap"), [[{"reason": "bus"}], [{"reason": "bus"}] * 2])
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


class Congestion(Cluster, on_nats=False):
    """On Redis alone: a NATS server holds up whoever publishes to a node that takes nothing, before it cuts the node off."""

    def test_a_node_that_takes_nothing_is_cut_off_and_misses_nothing_that_is_kept(self) -> None:
        engine, servers = self.start(2, WAITING)
        is_cut_off = lambda: "output buffer limits" in engine.log.read_text()
        kept, fleeting = ([self.client(server, topic) for server in servers] for topic in (KEPT, FLEETING))
        said = [str(number) for number in range(40)]
        for body in said[:10]:
            kept[0].say(body)
        servers[1].process.signal(SIGSTOP)
        try:
            for body in said[10:20]:
                kept[0].say(body)
            for _ in range(LARGE_MESSAGES_MAX):
                self.assertEqual(fleeting[0].say("x" * LARGE_BYTES)["status"], "ok")
                if is_cut_off():
                    break
            wait_until("Redis cuts the node off", is_cut_off)
            for body in said[20:30]:
                kept[0].say(body)
        finally:
            servers[1].process.signal(SIGCONT)
        for body in said[30:]:
            kept[0].say(body)
        for client in kept:
            client.wait_for_bodies(said)
            self.assertEqual(client.bodies(), said)
            self.assertEqual(client.events("gap"), [])
        fleeting[1].wait_for_event("gap")
        self.assertEqual(fleeting[0].events("gap"), [])
        self.assertEqual([server.metric("throng_bus_connects_total") for server in servers], [1, 2])


class Partitions(Cluster):
    def start_near_and_far(self) -> tuple[Proxy, list[Node]]:
        """Two servers with an engine between them, and a proxy before it for the second."""
        engine = self.start_engine()
        proxy = Proxy(engine)
        self.addCleanup(proxy.end)
        servers = [self.start_server("near", engine.url), self.start_server("far", proxy.url)]
        for server in servers:
            server.wait_for_bus()
        return proxy, servers

    def test_both_sides_of_a_partition_go_on_and_agree_when_it_is_over(self) -> None:
        proxy, servers = self.start_near_and_far()
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
        proxy, servers = self.start_near_and_far()
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

    def test_members_elsewhere_are_told_once_of_what_was_said_on_a_node_that_was_cut_off(self) -> None:
        proxy, servers = self.start_near_and_far()
        near, far = (self.client(server, FLEETING) for server in servers)
        elsewhere = self.client(servers[0], "rooms:elsewhere")
        proxy.cut()
        servers[1].wait_until_bus_is_away()
        for body in ("one", "two"):
            far.say(body)
        far.wait_for_bodies(["one", "two"])
        proxy.heal()
        for client in (near, far):
            client.wait_for_event("gap")
        near.say("after")
        far.wait_for_bodies(["after"])
        far.say("too")
        near.wait_for_bodies(["after", "too"])
        for client in (near, far):
            self.assertEqual(client.events("gap"), [{"reason": "bus"}])
        self.assertEqual(near.bodies(), ["after", "too"])
        self.assertEqual(elsewhere.events("gap"), [])
        self.assertEqual(servers[1].metric("throng_bus_lost_total"), 2)
        self.assertEqual([server.metric("throng_bus_untold_total") for server in servers], [0, 0])

    def test_every_node_notices_an_engine_that_falls_silent_and_tells_its_members(self) -> None:
        engine = self.start_engine()
        proxy = Proxy(engine)
        self.addCleanup(proxy.end)
        servers = [self.start_server(name, proxy.url) for name in ("one", "other")]
        for server in servers:
            server.wait_for_bus()
        members = [self.client(server, FLEETING) for server in servers]
        members[0].say("before")
        members[1].wait_for_bodies(["before"])
        # Until NATS has confirmed it: else it may be lost, and the others are told so.
        time.sleep(CONFIRMED_SECONDS)
        proxy.cut()
        began = time.monotonic()
        for server in servers:
            said = server.wait_until_bus_is_away("it does not answer in time")
            self.assertLess(time.monotonic() - began, SILENCE_NOTICED_SECONDS_MAX)
            self.assertTrue(said.startswith("ready\n"), "the node is wanted all the same")
            self.assertEqual(server.metric("throng_bus_up"), 0)
        proxy.heal()
        for member in members:
            member.wait_for_event("gap")
        members[0].say("after")
        members[1].wait_for_bodies(["after"])
        for member in members:
            self.assertEqual(member.events("gap"), [{"reason": "bus"}])


if __name__ == "__main__":
    unittest.main()
