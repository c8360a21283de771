"""The server is killed in the middle of erasing a person, a room or a community, several times, and goes on with it by itself.

Needs target/debug/throng (THRONG_BIN names another), and PostgreSQL."""

import json
import shutil
import sqlite3
import tempfile
import threading
import unittest
from contextlib import closing
from pathlib import Path

from environment import Stored
from furnished import ANN, GONE, KEPT, TRACES, command, lines
from harness.postgres import Postgres, rows
from harness.programs import wait_until
from harness.server import Server

# Kills come when so much is left, in parts of what there was, each after the erasure was asked for or went on.
LEFT = (0.9, 0.5)


class Erasures(Stored):
    """On SQLite, unless a test's class says otherwise."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.begun = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="throng-durable-")))
        exported, cls.furnished = cls.begun / "lines", cls.begun / "throng"
        exported.write_text(lines())
        cls.furnished.mkdir()
        command(cls.furnished, "store", "import", str(exported), settings=cls.furnished_store())

    @classmethod
    def furnished_store(cls) -> dict[str, str]:
        """The settings that say where the store is that each test begins with a copy of."""
        return {}

    def begin(self) -> None:
        """A server on a store with both communities."""
        shutil.copytree(self.furnished, self.folder / "throng")
        self.server = Server(self.folder, "throng", self.store())
        self.addCleanup(lambda: self.server.process.kill())

    def rows(self, sql: str) -> list[tuple]:
        """What the database says beside the server."""
        with closing(sqlite3.connect(self.folder / "throng" / "messenger.sqlite3", timeout=10)) as database:
            return database.execute(sql).fetchall()

    def tables(self) -> list[str]:
        """Those whose rows are communities'. The search index is none, and is asked by searching."""
        named = self.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'")
        columns = "SELECT 1 FROM pragma_table_info('{}') WHERE name = 'community'"
        return [name for (name,) in named if self.rows(columns.format(name))]

    def count(self, sql: str) -> int:
        return int(self.rows(f"SELECT count(*) FROM {sql}")[0][0])

    def dump(self, community: str) -> dict[str, list[tuple]]:
        """All rows of a community."""
        return {
            table: sorted(self.rows(f"SELECT * FROM {table} WHERE community = '{community}'"), key=repr)
            for table in self.tables()
        }

    def assert_untouched(self, before: dict[str, list[tuple]], community: str) -> None:
        for table, rows in self.dump(community).items():
            self.assertEqual(rows, before[table], f"{table} of {community}")

    def found(self, words: str, community: str = KEPT) -> int:
        """How many messages a search finds."""
        return len(self.server.operate("GET", f"/communities/{community}/search?words={words}")["rows"])

    def kill_in_the_middle(self, path: str, left: str) -> None:
        """Each time a part of what is counted by `left` is erased; and starts it again."""
        begun = self.count(left)
        for part in LEFT:
            asking = threading.Thread(target=self._erase, args=(path,), daemon=True)
            asking.start()
            wait_until("a part is erased", lambda: self.count(left) < part * begun)
            self.server.process.kill()
            asking.join()
            self.assertGreater(self.count(left), 0, "it was killed in the middle")
            self.server.start()

    def _erase(self, path: str) -> None:
        # Whoever asks is never answered.
        try:
            self.server.operate("DELETE", path)
        except (OSError, AssertionError):
            pass

    def test_a_person_is_erased_whole_though_the_server_was_killed_in_the_middle(self) -> None:
        self.begin()
        kept = self.dump(KEPT)
        messages = self.server.operate("GET", f"/communities/{GONE}/conversations/room:hall")["last"]
        hers = f"messages WHERE community = '{GONE}' AND sender = '{ANN}'"
        self.kill_in_the_middle(f"/communities/{GONE}/people/{ANN}", hers)
        wait_until("it is done", lambda: self.count(f"people WHERE community = '{GONE}' AND id = '{ANN}'") == 0)
        for table, rows in self.dump(GONE).items():
            # The revocation of her tokens is kept until none of them could be good.
            if table != "revocations":
                left = [row for row in rows if any(trace in str(row) for trace in TRACES)]
                self.assertEqual(left, [], f"of hers in {table}")
        self.assertEqual(self.found("annswords", GONE), 0)
        hall = f"/communities/{GONE}/conversations/room:hall"
        page = self.server.operate("GET", f"{hall}/messages?after=0&limit=200")
        self.assertEqual([message["seq"] for message in page["messages"]], list(range(1, 201)), "places are dense")
        self.assertEqual(page["conversation"]["last"], messages, "and stay")
        self.assertEqual({m["sender"] for m in page["messages"]}, {"bob", "~erased"})
        self.assertEqual(self.count(f"messages WHERE community = '{GONE}' AND sender = 'bob'"), 2, "of others all is there")
        self.assert_untouched(kept, KEPT)
        self.assertGreater(self.found("annswords"), 0)

    def test_a_community_is_erased_whole_though_the_server_was_killed_in_the_middle(self) -> None:
        self.begin()
        kept = self.dump(KEPT)
        self.kill_in_the_middle(f"/communities/{GONE}", f"messages WHERE community = '{GONE}'")
        wait_until("it is done", lambda: self.count(f"communities WHERE community = '{GONE}'") == 0)
        for table, rows in self.dump(GONE).items():
            self.assertEqual(rows, [], f"of it in {table}")
        listed = self.server.operate("GET", "/communities")["rows"]
        self.assertNotIn(GONE, [community["id"] for community in listed])
        self.assert_untouched(kept, KEPT)
        self.assertGreater(self.found("annswords"), 0)
        # Nothing of it is in one of its name, either.
        self.server.operate("POST", "/communities", {"id": GONE, "settings": {"name": "Anew"}})
        self.assertEqual(self.found("annswords", GONE), 0)
        self.assertEqual(self.server.operate("GET", f"/communities/{GONE}/people")["rows"], [])

    def test_a_room_is_erased_whole_though_the_server_was_killed_in_the_middle(self) -> None:
        self.begin()
        kept = self.dump(KEPT)
        hall = f"/communities/{GONE}/conversations/room:hall"
        self.kill_in_the_middle(hall, f"messages WHERE community = '{GONE}'")
        wait_until("it is done", lambda: self.count(f"unfinished_erasures WHERE community = '{GONE}'") == 0)
        there = f"SELECT id FROM conversations WHERE community = '{GONE}'"
        for table in ("messages", "edits", "mentions", "reactions", "members", "invitations", "sanctions", "reports"):
            of_none = f"{table} WHERE community = '{GONE}' AND conversation NOT IN ({there})"
            self.assertEqual(self.count(of_none), 0, f"of it in {table}")
        deeds = [deed for (deed,) in self.rows(f"SELECT deed FROM audit WHERE community = '{GONE}'")]
        self.assertEqual((deeds.count("erase_conversation"), {"mute", "create_room"} & set(deeds)), (1, set()))
        self.assertEqual(self.found("annswords", GONE), 0)
        self.assertEqual(self.count(f"messages WHERE community = '{GONE}'"), 1, "between two, all is there")
        self.assertEqual(len(self.server.operate("GET", f"/communities/{GONE}/people")["rows"]), 4)
        self.server.operate("POST", f"/communities/{GONE}/rooms", {"name": "hall", "kind": "public", "title": "Anew"})
        self.assertEqual(self.server.operate("GET", hall)["last"], 0)
        self.assert_untouched(kept, KEPT)
        self.assertGreater(self.found("annswords"), 0)

    def test_who_asks_again_after_the_kill_is_told_what_was_left(self) -> None:
        self.begin()
        messages, counts = f"messages WHERE community = '{GONE}'", []
        for path, left in (
            (f"/communities/{GONE}/people/{ANN}", f"{messages} AND sender = '{ANN}'"),
            (f"/communities/{GONE}", messages),
        ):
            self.kill_in_the_middle(path, left)
            expected = self.count(left)
            report = self.server.operate("DELETE", path)
            self.assertEqual((report["messages"], report["done"]), (expected, True), json.dumps(report))
            counts.append(self.count(left))
        self.assertEqual(counts, [0, 0])


class ErasuresOnPostgres(Erasures):
    """The same, each in a database of its own."""

    @classmethod
    def furnished_store(cls) -> dict[str, str]:
        cls.postgres = Postgres(cls.begun)
        cls.addClassCleanup(cls.postgres.end)
        return {"THRONG_STORE_URL": cls.postgres.url}

    def setUp(self) -> None:
        super().setUp()
        self.url = self.postgres.copied()

    def store(self) -> dict[str, str]:
        return {"THRONG_STORE_URL": self.url}

    def rows(self, sql: str) -> list[tuple]:
        return rows(self.url, sql)

    def tables(self) -> list[str]:
        named = "SELECT table_name FROM information_schema.columns WHERE column_name = 'community'"
        return [name for (name,) in self.rows(f"{named} AND table_schema = 'public'")]


if __name__ == "__main__":
    unittest.main()
