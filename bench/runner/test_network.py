import contextlib
import io
import os
import socket
import subprocess
import unittest
from unittest import mock

from runner import network

LARGE = 1 << 22


def is_alone() -> bool:
    """Whether a child sees no interface but its loopback."""
    return subprocess.run(["cat", "/proc/net/dev"], capture_output=True, text=True, check=True).stdout.count(":") == 1


def can_have_namespaces() -> bool:
    return subprocess.run(["unshare", "--net", "true"], stderr=subprocess.DEVNULL).returncode == 0


class Network(unittest.TestCase):
    def test_a_few_connections_stay_where_they_are(self):
        with network.with_table_for(10_000) as changed:
            self.assertEqual(changed, {})

    def test_who_may_not_leave_stays_and_goes_on(self):
        home = os.readlink("/proc/self/ns/net")
        denied = PermissionError("not permitted")
        with (
            mock.patch.object(network, "entries", lambda: 1),
            mock.patch.object(network, "_leave", side_effect=denied),
            mock.patch.object(network, "_call") as call,
            contextlib.redirect_stderr(io.StringIO()) as said,
            network.with_table_for(10) as changed,
        ):
            self.assertEqual(changed, {})
            self.assertEqual(os.readlink("/proc/self/ns/net"), home)
        call.assert_not_called()
        self.assertIn("1 entries for 20 ends: not permitted", said.getvalue())

    @unittest.skipUnless(can_have_namespaces() and network.ENTRIES.exists(), "root has namespaces, and Linux 6.2 tables in them")
    def test_many_have_a_table_and_a_loopback_of_their_own_until_the_end(self):
        home, before = os.readlink("/proc/self/ns/net"), network.entries()
        of_children, closed_max = network.ENTRIES_OF_CHILDREN.read_text(), network.CLOSED_MAX.read_text()
        with network.with_table_for(LARGE) as changed:
            self.assertEqual(changed, {"net.ipv4.tcp_ehash_entries": (before, LARGE)})
            self.assertEqual((network.entries(), network.CLOSED_MAX.read_text()), (LARGE, closed_max))
            self.assertTrue(is_alone(), "what is started is there as well")
            with socket.create_server(("127.0.0.1", 0)) as server:
                socket.create_connection(server.getsockname(), timeout=60).close()
        self.assertEqual(os.readlink("/proc/self/ns/net"), home)
        self.assertEqual((network.entries(), network.ENTRIES_OF_CHILDREN.read_text()), (before, of_children))


if __name__ == "__main__":
    unittest.main()
