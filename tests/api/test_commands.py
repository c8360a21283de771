"""The operator's commands against a running server, and on the store's files without one."""

import json
import unittest

from harness.rest import ask
from server import running


class Commands(unittest.TestCase):
    def test_a_community_gets_its_keys_and_a_room_and_somebody_is_banned(self) -> None:
        with running() as server:
            self.assertIn("created the community club", server.command("community", "create", "club", "--name", "The Club"))
            self.assertIn("club", server.command("community", "list"))
            key = server.command("key", "create", "club", "--name", "site", "--scopes", "list,send,manage_people")
            key = key.splitlines()[0]
            server.command("room", "create", "club", "hall")
            ask(server.public, "PUT", "/communities/club/people/ann", key, {"name": "Ann"})
            server.command("ban", "add", "club", "ann", "--room", "hall", "--lasts", "7d", "--reason", "noise")
            self.assertIn("noise", server.command("ban", "list", "club", "--room", "hall"))
            server.command("ban", "lift", "club", "ann", "--room", "hall")
            self.assertNotIn("noise", server.command("ban", "list", "club", "--room", "hall"))
            self.assertIn("connections: 0", server.command("person", "revoke", "club", "ann"))
            people = json.loads(server.command("person", "list", "club", "--json"))
            self.assertEqual([row["id"] for row in people["rows"]], ["ann"])
            self.assertIn("version", server.command("stats"))
            complaint = server.command("community", "create", "club", succeeds=False)
            self.assertIn("name_taken", complaint)

    def test_a_community_is_erased_and_its_name_is_free(self) -> None:
        with running() as server:
            server.command("community", "create", "club")
            server.command("room", "create", "club", "hall")
            self.assertIn("--yes", server.command("community", "erase", "club", succeeds=False))
            erased = server.command("community", "erase", "club", "--yes")
            for line in ("conversations: 1", "done: true"):
                self.assertIn(line, erased)
            self.assertNotIn("club", server.command("community", "list"))
            self.assertIn("not_found", server.command("community", "erase", "club", "--yes", succeeds=False))
            self.assertIn("created the community club", server.command("community", "create", "club"))

    def test_a_room_is_erased_and_its_name_is_free(self) -> None:
        with running() as server:
            server.command("room", "create", "default", "hall")
            self.assertIn("--yes", server.command("room", "erase", "default", "hall", succeeds=False))
            erased = server.command("room", "erase", "default", "hall", "--yes")
            for line in ("messages: 0", "done: true"):
                self.assertIn(line, erased)
            self.assertNotIn("hall", server.command("room", "list", "default"))
            for community in ("default", "nowhere"):
                complaint = server.command("room", "erase", community, "hall", "--yes", succeeds=False)
                self.assertIn("not_found", complaint)
            self.assertIn("created the room", server.command("room", "create", "default", "hall"))

    def test_settings_that_were_shown_are_given_back_changed(self) -> None:
        with running() as server:
            shown = json.loads(server.command("community", "show", "default", "--json"))
            shown["limits"]["history_days"] = 30
            file = server.folder / "settings.json"
            file.write_text(json.dumps(shown))
            server.command("community", "change", "default", "--settings", str(file))
            self.assertIn("limits.history_days: 30", server.command("community", "show", "default"))

    def test_a_backup_is_made_beside_the_server_and_an_import_is_refused_there(self) -> None:
        with running() as server:
            copy = server.folder / "copy.sqlite3"
            self.assertIn("complete", server.command("backup", str(copy)))
            self.assertTrue(copy.stat().st_size > 0)
            lines = server.folder / "export.ndjson"
            server.command("store", "export", str(lines))
            self.assertEqual(lines.stat().st_mode & 0o777, 0o600)
            records = [json.loads(line) for line in lines.read_text().splitlines()]
            self.assertTrue(any(record["of"] == "default" for record in records))
            self.assertIn("exists already", server.command("store", "export", str(lines), succeeds=False))
            self.assertEqual(len(records), len(lines.read_text().splitlines()))
            self.assertIn("stop it first", server.command("store", "import", str(lines), succeeds=False))
            self.assertIn("exists", server.command("backup", str(copy), succeeds=False))

    def test_without_a_server_a_command_says_what_to_do(self) -> None:
        with running() as server:
            server.process.end()
            self.assertIn("start the server", server.command("community", "list", succeeds=False))


if __name__ == "__main__":
    unittest.main()
