"""The server is killed again and again while people write, each time with messages on their way.

KILLS says how often. Needs target/debug/throng (THRONG_BIN names another), and PostgreSQL."""

import os
import random
import unittest

from environment import OnPostgres, Stored
from talker import Talker

KILLS = int(os.environ.get("KILLS", "100"))
NAMES = ("ann", "bob", "cat")
# Says nothing, and how far they have read.
READER = "dan"
# A kill comes after so many more acknowledgements for each, at most.
ACKS_MAX = 60
# Each talker edits every n-th of their messages.
EDITS_EVERY = 4


class Kills(Stored):
    def test_what_was_acknowledged_or_told_is_there_once_and_in_order_after_each_kill(self) -> None:
        chance = random.Random(KILLS)
        server = self.start_server()
        talkers = self.talkers(server, *NAMES, edits_every=EDITS_EVERY)
        reader = self.come_in(server, Talker(READER, reads=True))
        everybody = [*talkers, reader]
        stored: list[dict] = []
        for kill in range(KILLS):
            for talker in talkers:
                talker.talk()
            acks = chance.randint(1, ACKS_MAX)
            for talker in talkers:
                talker.wait_for_acks(len(talker.acked) + acks)
            server.process.kill()
            for talker in talkers:
                talker.wait_until_gone()
                talker.stop()
                self.assertTrue(talker.unacked, f"kill {kill} came with messages of {talker.name} on their way")
            reader.wait_until_gone()
            server.start()
            for person in everybody:
                person.connect(server.port)
            # What was there before is read once more at the end.
            stored += talkers[0].history(after=len(stored))
            self.check(stored, everybody)
        # What is still not acknowledged is said once more; then everybody has everything.
        for talker in talkers:
            talker.talk()
            talker.stop()
        for talker in talkers:
            talker.wait_until_all_is_acked()
        server.process.kill()
        server.start()
        for person in everybody:
            person.wait_until_gone()
            person.connect(server.port)
        before, stored = stored, talkers[0].history()
        self.check(stored, everybody)
        self.assertEqual(stored[: len(before)], before, "what was stored once stays as it was")
        said = sum(talker.count for talker in talkers)
        self.assertEqual(len(stored), said, "everything that was said is stored, and nothing twice")
        for person in everybody:
            person.wait_until_heard(len(stored))
        reader.wait_until_read(len(stored))
        for talker in talkers:
            self.assertGreater(len(talker.edited), KILLS // 2, "edits were acknowledged")
            self.assertGreater(len(talker.told_edited), len(talker.edited), "and told to the others")


class KillsOnPostgres(OnPostgres, Kills):
    """The same."""


if __name__ == "__main__":
    unittest.main()
