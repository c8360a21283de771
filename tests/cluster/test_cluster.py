"""What members of one room are told, on whichever nodes they are; and mistakes in the bus's address.

Every case runs on Redis, and once more on NATS. Needs target/debug/throng (THRONG_BIN names another) and both
servers."""

import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

from client import Client
from cluster import FLEETING, KEPT, Cluster
from harness.programs import DEADLINE_SECONDS, foreign_variables, throng


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


class Mistakes(Cluster):
    def test_a_wrong_password_is_named_and_never_shown(self) -> None:
        engine = self.start_engine(password="right")
        server = self.start_server("locked-out", engine.url_of("somebody", "wr0ng"))
        said = server.wait_until_bus_is_away("it rejects the login")
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
