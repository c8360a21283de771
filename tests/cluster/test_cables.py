"""Nodes whose cable is pulled out, in network namespaces: both sides go on, and agree when it is plugged in again.

Every case runs on Redis, and once more on NATS. Needs target/debug/throng (THRONG_BIN names another), both servers, and
the right to make network namespaces.
"""

import sys
import unittest

from client import Client
from cluster import FLEETING, KEPT, SETTINGS, SHORT, Cluster
from harness.engines import Engine
from network import Network, NotPermitted, Place, SecludedNode
from node import Node

# More than an engine keeps beyond what a short history says.
LONG = 500


class Cables(Cluster):
    """Nodes in network namespaces of their own: the kernel parts them from the engine, not a program that reads along."""

    def setUp(self) -> None:
        super().setUp()
        try:
            self.network = Network(nodes=2)
        except NotPermitted as reason:
            told = "not shown, that nodes whose cable is pulled out go on and agree later (a proxy that is cut shows it)"
            print(f"{told}: {reason}", file=sys.stderr)
            self.skipTest(str(reason))
        self.addCleanup(self.network.remove)

    def start_in(self, place: Place, name: str, engine: Engine) -> Node:
        server = SecludedNode(place, self.folder, name, {**SETTINGS, "THRONG_BUS_URL": engine.url})
        self.addCleanup(lambda: server.process.kill())
        server.wait_for_bus()
        return server

    def person(self, server: Node, key: str) -> Client:
        return self.client(server, FLEETING, name=key, presence=True, key=key)

    def test_a_node_whose_cable_is_pulled_out_goes_on_and_agrees_with_the_other_when_it_is_back(self) -> None:
        engine = self.start_engine(host=self.network.engine_address)
        names = ("near", "far")
        near, far = (self.start_in(place, name, engine) for place, name in zip(self.network.places, names))
        ann, cat = (self.person(near, key) for key in ("ann", "cat"))
        bob, dan = (self.person(far, key) for key in ("bob", "dan"))
        for client in (ann, bob, cat, dan):
            client.wait_for_people({"ann", "bob", "cat", "dan"})
        kept, short = ([self.client(server, topic) for server in (near, far)] for topic in (KEPT, SHORT))
        for here, there in (kept, short):
            here.say("before")
            there.wait_for_bodies(["before"])

        self.network.places[1].pull_out()
        said = far.wait_until_bus_is_away()
        self.assertTrue(said.startswith("ready\n"), "the node is wanted all the same")
        self.assertRegex(said, "because it (does not answer in time|cannot be reached)")
        self.assertIn("bus: up since ", near.readiness()[1])
        eve, fay = self.person(near, "eve"), self.person(far, "fay")
        cat.cut()
        dan.cut()
        for old, new in ((ann, eve), (bob, fay)):
            old.say("within")
            new.say("too")
            for client in (old, new):
                client.wait_for_bodies(["within", "too"])
        self.assertEqual(kept[1].say("lost"), {"status": "error", "response": {"reason": "unavailable"}})
        self.assertEqual(self.client(far, KEPT).joined["status"], "ok")
        meanwhile = [f"meanwhile {number}" for number in range(LONG)]
        for body in meanwhile:
            self.assertEqual(kept[0].say(body)["status"], "ok")
            self.assertEqual(short[0].say(body)["status"], "ok")
        for client in (ann, eve):
            client.wait_for_people({"ann", "eve"})
        for client in (bob, fay):
            client.wait_for_people({"bob", "fay"})
        self.assertEqual(kept[1].bodies(), ["before"])

        self.network.places[1].plug_in()
        far.wait_for_bus()
        for client in (ann, bob, eve, fay):
            client.wait_for_people({"ann", "bob", "eve", "fay"})
        after = kept[1].say_until_accepted("after")
        for client in kept:
            client.wait_for_bodies([after])
            heard = [body for body in client.bodies() if not body.startswith("after")]
            self.assertEqual(heard, ["before", *meanwhile], "what is kept is healed, in its order")
            self.assertEqual(client.events("gap"), [])
        self.assert_told_what_is_lost(short[1], ["before", *meanwhile])
        self.assertEqual(short[0].events("gap"), [])
        for client in (ann, bob, eve, fay):
            client.wait_for_event("gap")
            # Of two who speak on an ephemeral topic nobody is promised an order.
            self.assertEqual(sorted(client.bodies()), ["too", "within"], "its own side, and that once")
            self.assertEqual(client.events("gap"), [{"reason": "bus"}])
        ann.say("again")
        for client in (ann, bob, eve, fay):
            client.wait_for_bodies(["again"])

    def assert_told_what_is_lost(self, client: Client, said: list[str]) -> None:
        """Of a history that is shorter than what was missed: the newest are given, once and in order, behind a `gap`."""
        client.wait_for_bodies(said[-1:])
        (gap,) = client.events("gap")
        self.assertIn("epoch", gap)
        heard = client.bodies()
        self.assertEqual(heard[0], said[0])
        self.assertLess(len(heard), len(said))
        self.assertEqual(heard[1:], said[1 - len(heard) :], "the newest, without a hole")


if __name__ == "__main__":
    unittest.main()
