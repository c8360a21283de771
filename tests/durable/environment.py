"""What each test here begins with: a server on one of the stores, and talkers in its lobby."""

import tempfile
import unittest
from pathlib import Path

from harness.postgres import Postgres
from harness.server import Server
from talker import COMMUNITY, EDITED, Talker

# So that nobody is told to write more slowly.
MESSAGES_PER_MINUTE = 10_000_000


class Stored(unittest.TestCase):
    """On SQLite, unless a test's class says otherwise."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="throng-durable-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def store(self) -> dict[str, str]:
        """The settings that say where the store is."""
        return {}

    def start_server(self, program: type[Server] = Server) -> Server:
        server = program(self.folder, "throng", {"THRONG_SHUTDOWN_SPREAD": "100ms", **self.store()})
        self.addCleanup(lambda: server.process.kill())
        limits = {"messages_per_minute": MESSAGES_PER_MINUTE}
        server.operate("PUT", f"/communities/{COMMUNITY}", {"name": "Throng", "limits": limits})
        return server

    def talkers(self, server: Server, *names: str, edits_every: int = 0) -> list[Talker]:
        return [self.come_in(server, Talker(name, edits_every)) for name in names]

    def come_in(self, server: Server, talker: Talker) -> Talker:
        talker.connect(server.port)
        self.addCleanup(talker.close)
        return talker

    def check(self, stored: list[dict], talkers: list[Talker]) -> None:
        """What was acknowledged is stored, once, in order; what was told is stored; and nothing else is. So are edits."""
        self.assertEqual([message["seq"] for message in stored], list(range(1, len(stored) + 1)), "places are dense")
        texts = [message["text"] for message in stored]
        self.assertEqual(len(set(texts)), len(texts), "everything is stored once")
        edited = {message["seq"]: message["text"] for message in stored if message["edited"]}
        whole = [f"{m['client_id']} {EDITED}" if m["edited"] else m["client_id"] for m in stored]
        self.assertEqual(texts, whole)
        self.assertTrue(all(m["edits"] == 1 for m in stored if m["edited"]), "an edit is stored once")
        places = {message["client_id"]: (message["seq"], message["id"]) for message in stored}
        told = {message["seq"]: (message["id"], message["client_id"]) for message in stored}
        for talker in talkers:
            self.assertEqual(talker.problems, [])
            lost = {client_id: at for client_id, at in talker.acked.items() if places.get(client_id) != at}
            self.assertEqual(lost, {}, "what was acknowledged is stored where it was")
            unstored = {seq: heard for seq, heard in talker.heard.items() if told.get(seq) != heard}
            self.assertEqual(unstored, {}, "what was told is stored where it was")
            for what, edits in (("acknowledged", talker.edited), ("told", talker.told_edited)):
                missing = {seq: text for seq, text in edits.items() if edited.get(seq) != text}
                self.assertEqual(missing, {}, f"edits that were {what} are stored")
            names = [message["client_id"] for message in stored]
            own = [int(name.rpartition("-")[2]) for name in names if name.startswith(f"{talker.name}-")]
            self.assertEqual(own, sorted(own), f"what {talker.name} said stands in the order in which it was said")


class OnPostgres(Stored):
    """On a PostgreSQL of the test's own."""

    def setUp(self) -> None:
        super().setUp()
        self.database = Postgres(self.folder)
        self.addCleanup(self.database.end)

    def store(self) -> dict[str, str]:
        return {"THRONG_STORE_URL": self.database.url}
