"""Several nodes over one PostgreSQL: what is done on one is seen, and holds, on the others.

Every case runs with Redis between the nodes, and once more with NATS. Needs target/debug/throng (THRONG_BIN names another),
both servers, and PostgreSQL."""

import base64
import hashlib
import hmac
import json
import time
import unittest
from signal import SIGCONT, SIGSTOP

from client import Client
from cluster import SETTINGS, Cluster
from harness.engines import Nats
from harness.postgres import Postgres
from harness.programs import wait_until
from node import Node

LOBBY = "room:default/lobby"
SECRET = "a secret of at least thirty-two bytes"


def token(person: str) -> str:
    """As the host site signs it."""
    now = int(time.time())
    parts = [
        {"alg": "HS256", "typ": "JWT"},
        {"sub": person, "aud": "default", "iat": now - 5, "exp": now + 3600, "name": person.title(), "jti": f"{person}-1"},
    ]
    signed = ".".join(encoded(json.dumps(part).encode()) for part in parts)
    return f"{signed}.{encoded(hmac.digest(SECRET.encode(), signed.encode(), hashlib.sha256))}"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Shared(Cluster):
    """Nodes over one store, in whose community `default` a host site's people meet."""

    def setUp(self) -> None:
        super().setUp()
        self.store = Postgres(self.folder)
        self.addCleanup(self.store.end)

    def start_server(self, name: str, url: str) -> Node:
        settings = {**SETTINGS, "THRONG_BUS_URL": url, "THRONG_STORE_URL": self.store.url}
        server = Node(self.folder, name, settings)
        self.addCleanup(lambda: server.process.kill())
        return server

    def meet(self, nodes: int = 2) -> list[Node]:
        self.engine_between, servers = self.start(nodes)
        key = {"name": "site", "purpose": {"kind": "token", "algorithm": "HS256", "material": SECRET}}
        servers[0].operate("POST", "/keys", key)
        return servers

    def enter(self, server: Node, person: str, topic: str = LOBBY) -> Client:
        client = self.client(server, topic, connect_params={"community": "default", "token": token(person)})
        self.assertEqual(client.joined["status"], "ok", client.joined)
        return client

    def refused(self, server: Node, person: str) -> str:
        """Why somebody is not let in."""
        client = self.client(server, LOBBY, connect_params={"community": "default", "token": token(person)})
        return client.joined["response"].get("code", client.joined["status"])

    def seqs(self, client: Client) -> list[int]:
        return [message["seq"] for message in client.events("msg:new")]

    def wait_for(self, client: Client, event: str, **fields) -> dict:
        """An event with these fields."""
        fits = lambda told: all(told.get(name) == value for name, value in fields.items())
        wait_until(f"{event} {fields} is told", lambda: any(fits(told) for told in client.events(event)))
        return next(told for told in client.events(event) if fits(told))

    def send(self, client: Client, text: str) -> int:
        reply = client.ask("msg:new", {"text": text})
        self.assertEqual(reply["status"], "ok", reply)
        return reply["response"]["seq"]


class Rooms(Shared):
    def test_what_is_said_on_any_node_is_heard_on_all_once_at_its_place(self) -> None:
        servers = self.meet(3)
        people = [self.enter(server, name) for server, name in zip(servers, ("ann", "bob", "cat"))]
        said = {self.send(people[number % 3], f"message {number}"): f"message {number}" for number in range(30)}
        self.assertEqual(sorted(said), list(range(1, 31)))
        for person in people:
            wait_until("everything is heard", lambda person=person: len(self.seqs(person)) >= 30)
            heard = {message["seq"]: message["text"] for message in person.events("msg:new")}
            self.assertEqual(heard, said)
            self.assertEqual(len(self.seqs(person)), 30, "each once")
        late = self.enter(servers[1], "dan")
        self.assertEqual([message["seq"] for message in late.joined["response"]["messages"]], list(range(1, 31)))

    def test_a_room_that_is_described_anew_on_one_node_is_so_on_the_other(self) -> None:
        here, there = self.meet()
        bob = self.enter(there, "bob")
        here.operate("PATCH", "/conversations/room:lobby", {"topic": "Tea at five"})
        self.wait_for(bob, "conversation:changed", topic="Tea at five")
        cat = self.enter(there, "cat")
        self.assertEqual(cat.joined["response"]["conversation"]["topic"], "Tea at five")

    def test_a_message_that_is_edited_on_one_node_is_so_on_the_other(self) -> None:
        here, there = self.meet()
        ann, bob = self.enter(here, "ann"), self.enter(there, "bob")
        seq = self.send(ann, "helo")
        self.wait_for(bob, "msg:new", seq=seq)
        ann.ask("msg:edit", {"seq": seq, "text": "hello"})
        self.wait_for(bob, "msg:edit", seq=seq, text="hello")
        cat = self.enter(there, "cat")
        self.assertEqual(cat.joined["response"]["messages"][-1]["text"], "hello")

    def test_people_talk_with_each_other_wherever_they_are(self) -> None:
        here, there = self.meet()
        # Who shares a room sees each other.
        for server, name in ((here, "ann"), (there, "bob")):
            self.enter(server, name)
        ann = self.enter(here, "ann", "person:default/ann")
        bob = self.enter(there, "bob", "person:default/bob")
        opened = ann.ask("direct", {"with": "bob"})
        self.assertEqual(opened["status"], "ok", opened)
        conversation = self.wait_for(bob, "conversation:new")["conversation"]["id"]
        ann.ask("typing", {"conversation": conversation, "on": True})
        self.wait_for(bob, "typing", conversation=conversation, person="ann")
        reply = ann.ask("msg:new", {"conversation": conversation, "text": "psst"})
        self.assertEqual(reply["status"], "ok", reply)
        self.wait_for(bob, "msg:new", conversation=conversation, text="psst")
        bob.ask("msg:new", {"conversation": conversation, "text": "what?"})
        self.wait_for(ann, "msg:new", conversation=conversation, text="what?")
        for person in (ann, bob):
            # One's own is told to one's devices when it is told to the other nodes, and may come later than to those.
            wait_until("both are told of both", lambda person=person: len(self.seqs(person)) >= 2)
            self.assertEqual(self.seqs(person), [1, 2])

    def test_who_is_online_and_how_is_seen_wherever_they_are(self) -> None:
        here, there = self.meet()
        for server, name in ((here, "ann"), (there, "bob")):
            self.enter(server, name)
        ann = self.enter(here, "ann", "person:default/ann")
        bob = self.enter(there, "bob", "person:default/bob")
        self.assertEqual(ann.ask("direct", {"with": "bob"})["status"], "ok")
        statuses = lambda: [told["status"] for told in ann.events("presence") if told["person"] == "bob"]
        wait_until("ann sees that bob is there", lambda: statuses()[-1:] == ["online"])
        for status, seen in (("busy", "busy"), ("invisible", "offline"), ("auto", "online")):
            self.assertEqual(bob.ask("status", {"status": status})["status"], "ok")
            wait_until(f"ann sees {seen}", lambda seen=seen: statuses()[-1:] == [seen])
        # Somebody who comes later is told at once, wherever they come.
        cat = self.enter(here, "ann", "person:default/ann")
        self.assertIn({"person": "bob", "status": "online"}, cat.joined["response"]["presence"])
        there.process.kill()
        wait_until("the node's people are gone", lambda: statuses()[-1:] == ["offline"])


class Order(Shared):
    def test_who_is_banned_from_a_room_on_one_node_is_out_of_it_on_the_other(self) -> None:
        here, there = self.meet()
        bob, cat = self.enter(there, "bob"), self.enter(there, "cat")
        here.operate("PUT", "/sanctions/ban/bob?conversation=room:lobby", {})
        bob.wait_for_event("phx_close")
        self.assertEqual(self.refused(there, "bob"), "banned")
        self.send(cat, "they are gone")
        here.operate("DELETE", "/sanctions/ban/bob?conversation=room:lobby")
        wait_until("the ban is lifted there, too", lambda: self.refused(there, "bob") == "ok")

    def test_who_is_banned_from_the_community_on_one_node_is_cut_on_the_other(self) -> None:
        here, there = self.meet()
        bob, cat = self.enter(there, "bob"), self.enter(there, "cat")
        here.operate("PUT", "/sanctions/ban/bob", {})
        bob.wait_until_gone()
        self.assertEqual(self.refused(there, "bob"), "banned")
        self.send(cat, "they are gone")

    def test_a_token_that_is_revoked_on_one_node_is_refused_on_the_other(self) -> None:
        here, there = self.meet()
        bob, cat = self.enter(there, "bob"), self.enter(there, "cat")
        here.operate("POST", "/people/bob/revocations", {"token_id": "bob-1"})
        bob.wait_until_gone()
        self.assertEqual(self.refused(there, "bob"), "token_revoked")
        self.send(cat, "they are gone")

    def test_a_key_that_is_made_or_revoked_on_one_node_counts_or_does_not_on_the_other(self) -> None:
        here, there = self.meet()
        self.enter(there, "bob")
        for key in here.operate("GET", "/keys")["rows"]:
            here.operate("DELETE", f"/keys/{key['id']}")
        wait_until("the key counts no more", lambda: self.refused(there, "cat") == "token_invalid")


class Losses(Shared):
    def test_what_happened_while_the_engine_was_away_is_made_good(self) -> None:
        here, there = self.meet()
        ann, bob, cat = self.enter(here, "ann"), self.enter(there, "bob"), self.enter(there, "cat")
        self.send(ann, "before")
        self.wait_for(cat, "msg:new", seq=1)
        self.engine_between.process.kill()
        for server in (here, there):
            server.wait_until_bus_is_away()
        seq = self.send(ann, "meanwhile")
        here.operate("PUT", "/sanctions/ban/bob?conversation=room:lobby", {})
        self.engine_between.start()
        for server in (here, there):
            server.wait_for_bus()
        self.wait_for(cat, "head", seq=seq)
        bob.wait_for_event("phx_close")
        missed = cat.ask("history", {"after": 1})["response"]["messages"]
        self.assertEqual([message["text"] for message in missed], ["meanwhile"])
        self.send(ann, "afterwards")
        self.wait_for(cat, "msg:new", seq=seq + 1)

    def test_a_node_that_stood_still_learns_what_the_others_did_meanwhile(self) -> None:
        here, there = self.meet()
        ann, bob = self.enter(here, "ann"), self.enter(there, "bob")
        there.process.signal(SIGSTOP)
        try:
            seq = self.send(ann, "meanwhile")
            wait_until("it counts as gone", lambda: here.metric("throng_bus_nodes") == 1)
        finally:
            there.process.signal(SIGCONT)
        # What comes before its session is known to be over it hears; of what comes then it tells how far the room has come.
        knows = lambda seq: any(head["seq"] >= seq for head in bob.events("head")) or seq in self.seqs(bob)
        wait_until("it is told", lambda: knows(seq))
        seq = self.send(ann, "afterwards")
        wait_until("that is told, too", lambda: knows(seq))
        wait_until("both know each other again", lambda: all(s.metric("throng_bus_nodes") == 2 for s in (here, there)))
        there.wait_for_bus()
        seq = self.send(ann, "as ever")
        self.wait_for(bob, "msg:new", seq=seq)


class RoomsOnNats(Rooms):
    engine = Nats


class OrderOnNats(Order):
    engine = Nats


class LossesOnNats(Losses):
    engine = Nats


if __name__ == "__main__":
    unittest.main()
