"""What people see while the store cannot write, and that everything goes on when it can.

Needs target/debug/throng (THRONG_BIN names another), PostgreSQL, prlimit, and a C compiler."""

import errno
import os
import shutil
import subprocess
import unittest
from pathlib import Path
from signal import SIGTERM

from environment import OnPostgres, Stored
from harness.postgres import NOBODY, as_somebody
from harness.programs import DEADLINE_SECONDS, find, foreign_variables, free_port, throng
from harness.server import Server
from talker import Talker


class Bounded(Server):
    """Lives on when it may not write more to a file: without this the system's signal would end it."""

    wrapper = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"]

    def limit_files(self, size: str) -> None:
        """From now on no file grows beyond so many bytes, as on a disk that is full."""
        limit = [find("prlimit"), "--pid", str(self.process.child.pid), f"--fsize={size}:unlimited"]
        subprocess.run(limit, check=True, timeout=DEADLINE_SECONDS)


class Trouble(Stored):
    def assert_refused(self, talkers: list[Talker]) -> None:
        """Nothing is acknowledged from here on, and everybody who writes is told why."""
        for talker in talkers:
            self.assertEqual(talker.wait_until_refused(), {"unavailable"})
        acked = [len(talker.acked) for talker in talkers]
        for talker in talkers:
            talker.say_again()
            talker.wait_until_nothing_is_under_way()
        self.assertEqual([len(talker.acked) for talker in talkers], acked)

    def recover(self, talkers: list[Talker]) -> None:
        """Everybody says again what was refused, until it is acknowledged: the way back may take the store a moment."""
        for talker in talkers:
            talker.say_until_all_is_acked()
        stored = talkers[0].history()
        self.check(stored, talkers)
        self.assertEqual(len(stored), sum(talker.count for talker in talkers))
        for talker in talkers:
            talker.wait_until_heard(len(stored))


class FullDisk(Trouble):
    def test_nothing_is_acknowledged_while_the_disk_is_full_and_it_goes_on_with_it(self) -> None:
        server = self.start_server(Bounded)
        talkers = self.talkers(server, "ann", "bob")
        for _ in range(3):
            for talker in talkers:
                talker.talk()
                talker.wait_for_acks(len(talker.acked) + 20)
            server.limit_files("1")
            for talker in talkers:
                talker.stop()
                talker.say_more()
            self.assert_refused(talkers)
            self.assertEqual(server.readiness()[0], 200)
            server.limit_files("unlimited")
            self.recover(talkers)


class FaultyDisk(Trouble):
    """Under a server that runs; `faulty_disk.c` says how."""

    def setUp(self) -> None:
        super().setUp()
        source, library = Path(__file__).with_name("faulty_disk.c"), self.folder / "faulty_disk.so"
        options = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
        compiler = find("cc", "a C compiler is needed")
        subprocess.run([compiler, *options, "-o", library, source], check=True, timeout=DEADLINE_SECONDS)
        self.control = self.folder / "disk"
        self.preloaded = {"LD_PRELOAD": str(library), "FAULTY_DISK": str(self.control)}

    def store(self) -> dict[str, str]:
        return self.preloaded

    def fail(self, what: str, error: int) -> None:
        """From now on the disk fails so. At once: half a word would be no fault."""
        words = self.folder / "disk-next"
        words.write_text(f"{what} {error}")
        words.rename(self.control)

    def assert_goes_on_after(self, what: str, error: int) -> None:
        server = self.start_server()
        talkers = self.talkers(server, "ann", "bob")
        for _ in range(3):
            for talker in talkers:
                talker.talk()
                talker.wait_for_acks(len(talker.acked) + 20)
            self.fail(what, error)
            for talker in talkers:
                talker.stop()
                talker.say_more()
            self.assert_refused(talkers)
            # What is there can be read, and who reads is not sent away.
            self.assertGreaterEqual(len(talkers[0].history()), len(talkers[0].acked))
            self.assertEqual(server.readiness()[0], 200)
            self.control.unlink()
            self.recover(talkers)

    def test_nothing_is_acknowledged_while_the_disk_is_read_only_and_it_goes_on_with_it(self) -> None:
        self.assert_goes_on_after("write", errno.EROFS)

    def test_nothing_is_acknowledged_while_the_disk_has_no_space_left_and_it_goes_on_with_it(self) -> None:
        self.assert_goes_on_after("write", errno.ENOSPC)

    def test_nothing_is_acknowledged_that_a_disk_may_have_lost_and_it_goes_on_with_it(self) -> None:
        self.assert_goes_on_after("sync", errno.EIO)


class ReadOnlyDisk(Stored):
    def refused_start(self, folder) -> str:
        """What a server says that cannot write to its folder. Root may write anywhere: it runs as nobody then."""
        settings = {
            # Where it would look for a configuration file: it may not even look into root's.
            "XDG_CONFIG_HOME": str(folder),
            "HOME": str(folder),
            "THRONG_DATA_DIR": str(folder),
            "THRONG_LISTEN": f"127.0.0.1:{free_port()}",
            "THRONG_ADMIN_LISTEN": f"127.0.0.1:{free_port()}",
        }
        options = {"capture_output": True, "text": True, "timeout": DEADLINE_SECONDS, **as_somebody()}
        ended = subprocess.run([throng(), "serve"], env={**foreign_variables(), **settings}, cwd="/", **options)
        self.assertNotEqual(ended.returncode, 0)
        return ended.stderr

    def test_a_folder_that_cannot_be_written_to_is_named_at_the_start(self) -> None:
        self.folder.chmod(0o755)
        folder = self.folder / "sealed"
        folder.mkdir(mode=0o555)
        self.assertIn(str(folder), self.refused_start(folder))

    def test_a_store_that_cannot_be_written_to_is_refused_at_the_start_and_left_alone(self) -> None:
        self.folder.chmod(0o755)
        server = self.start_server()
        (talker,) = self.talkers(server, "ann")
        talker.talk()
        talker.wait_for_acks(5)
        talker.stop()
        talker.wait_until_all_is_acked()
        server.process.signal(SIGTERM)
        server.process.wait()
        if os.geteuid() == 0:
            shutil.chown(server.folder, NOBODY, NOBODY)
            for file in server.folder.iterdir():
                shutil.chown(file, NOBODY, NOBODY)
        store = server.folder / "messenger.sqlite3"
        store.chmod(0o444)
        before = store.read_bytes()
        said = self.refused_start(server.folder)
        self.assertIn("the store cannot be written", said)
        self.assertEqual(store.read_bytes(), before)
        store.chmod(0o600)
        server.start()
        talker.wait_until_gone()
        talker.connect(server.port)
        self.check(talker.history(), [talker])


class DatabaseAway(OnPostgres, Trouble):
    def test_nothing_is_acknowledged_while_the_database_is_away_and_it_goes_on_with_it(self) -> None:
        server = self.start_server()
        talkers = self.talkers(server, "ann", "bob")
        for _ in range(2):
            for talker in talkers:
                talker.talk()
                talker.wait_for_acks(len(talker.acked) + 20)
            self.database.kill()
            for talker in talkers:
                talker.stop()
                talker.say_more()
            self.assert_refused(talkers)
            self.assertEqual(server.readiness()[0], 200)
            self.database.start()
            self.recover(talkers)


if __name__ == "__main__":
    unittest.main()
