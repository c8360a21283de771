"""Who is on one node is seen on the others, until their node is gone.

Every case runs on Redis, and once more on NATS. Needs target/debug/throng (THRONG_BIN names another) and both
servers."""

import time
import unittest
from signal import SIGCONT, SIGSTOP

from client import Client
from cluster import FLEETING, Cluster
from node import Node

# The people of a node that was killed may be seen for so long (docs/operations.md).
LEASE_SECONDS_MAX = 10
# What somebody does on one node is seen on the others within this: a lost change is told again after one second.
SEEN_SECONDS_MAX = 5
# For what the machine's lateness, which is measured, does not show.
MARGIN_SECONDS = 2
PULSE_SECONDS = 0.05


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

    def test_every_node_tells_who_comes_the_same_of_somebody_on_all_of_them(self) -> None:
        _, servers = self.start(3)
        everywhere = [self.person(server, "ann") for server in servers]
        bob = self.person(servers[0], "bob")
        for client in (*everywhere, bob):
            client.wait_for_people({"ann", "bob"})
        metas = []
        for number, server in enumerate(servers):
            newcomer = self.person(server, f"newcomer-{number}")
            newcomer.wait_for_people({"ann", "bob", f"newcomer-{number}"} | {f"newcomer-{n}" for n in range(number)})
            metas.append(newcomer.events("presence_state")[0]["ann"]["metas"])
        self.assertEqual(len(metas[0]), len(servers), "one of each node")
        for other in metas[1:]:
            self.assertEqual(other, metas[0], "the same, in the same order")

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

    def test_people_of_a_node_that_is_killed_while_the_engine_is_away_disappear(self) -> None:
        engine, servers = self.start(2)
        ann, bob = self.person(servers[0], "ann"), self.person(servers[1], "bob")
        for client in (ann, bob):
            client.wait_for_people({"ann", "bob"})
        began = time.monotonic()
        for gone in (engine, servers[1]):
            gone.process.kill()
        self.assert_people_within(LEASE_SECONDS_MAX, began, [ann], {"ann"})
        cat = self.person(servers[0], "cat")
        for client in (ann, cat):
            client.wait_for_people({"ann", "cat"})
        engine.start()
        servers[0].wait_for_bus()
        dan = self.person(servers[0], "dan")
        for client in (ann, cat, dan):
            client.wait_for_people({"ann", "cat", "dan"})

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


if __name__ == "__main__":
    unittest.main()
