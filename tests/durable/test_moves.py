"""A whole store is moved from PostgreSQL to SQLite and back, and is the same.

Needs target/debug/throng (THRONG_BIN names another), and PostgreSQL."""

import json
import unittest
from pathlib import Path

from environment import OnPostgres
from furnished import MESSAGES, command, lines


class Moves(OnPostgres):
    def moved(self, written: Path, name: str, settings: dict[str, str]) -> Path:
        """What a store exports that was empty before these lines were imported."""
        data, exported = self.folder / name, self.folder / f"{name}.ndjson"
        data.mkdir()
        command(data, "store", "import", str(written), settings=settings)
        command(data, "store", "export", str(exported), settings=settings)
        return exported

    def test_what_postgres_exports_is_what_sqlite_had_and_gets_again(self) -> None:
        original = self.folder / "original.ndjson"
        original.write_text(lines())
        there = self.moved(original, "postgres", self.store())
        back = self.moved(there, "sqlite", {})
        before = records(original)
        self.assertGreater(len(before), 2 * MESSAGES)
        for exported in (there, back):
            self.assertEqual(records(exported), before, exported.name)


def records(exported: Path) -> list[str]:
    """In an order of their own: that of an export is its store's."""
    return sorted(json.dumps(json.loads(line), sort_keys=True) for line in exported.read_text().splitlines())


if __name__ == "__main__":
    unittest.main()
