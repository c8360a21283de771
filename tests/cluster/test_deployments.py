"""Nodes that are replaced one after the other.

Every case runs on Redis, and once more on NATS. Needs target/debug/throng (THRONG_BIN names another) and both
servers."""

import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from signal import SIGTERM

from client import Client
from cluster import KEPT, Cluster
from harness.programs import wait_until
from node import Node


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


if __name__ == "__main__":
    unittest.main()
