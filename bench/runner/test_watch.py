import time
import unittest
from types import SimpleNamespace
from unittest import mock

from runner import kernel, processes, watch

SERVER = SimpleNamespace(metrics_url="http://127.0.0.1:1/metrics", pid=1)
DEADLINE_S = 60


def watched(scrape) -> watch.Watch:
    """Of a server with this page, until something failed; the generator ends between two looks at it."""
    ended = FileNotFoundError("/proc/2/stat")
    with (
        mock.patch.object(watch, "EVERY_S", 0.01),
        mock.patch.object(watch, "_scrape", scrape),
        mock.patch.object(kernel, "resident_bytes", lambda pid: 1),
        mock.patch.object(processes, "cpu_seconds", mock.Mock(side_effect=ended)),
        watch.Watch([SERVER], [2]) as looks,
    ):
        deadline = time.monotonic() + DEADLINE_S
        while not looks.failed_looks and not looks.failed_scrapes and time.monotonic() < deadline:
            time.sleep(0.01)
    return looks


class WatchTest(unittest.TestCase):
    def test_a_process_that_ends_between_two_looks_is_no_failed_scrape(self):
        page = "throng_connections_open 1\nthrong_joined 1\nthrong_messages_out_total 1\n"
        looks = watched(lambda url: (page, 1.0))
        self.assertEqual((looks.failed_scrapes, bool(looks.failed_looks)), ([], True))

    def test_a_server_that_does_not_answer_is_one(self):
        looks = watched(mock.Mock(side_effect=ConnectionRefusedError("nobody listens")))
        self.assertEqual((bool(looks.failed_scrapes), looks.failed_looks), (True, []))


if __name__ == "__main__":
    unittest.main()
