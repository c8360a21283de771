"""python3 -m unittest discover -s bench -t bench"""

import json
import socket
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from runner import processes
from runner.competition import entrants, peers, plan
from runner.samples import Samples

REAL_PEERS = Path(__file__).resolve().parents[3] / "peers"

# Accepts one connection after the other and says nothing.
SERVER = """
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    listener.accept()[0].close()
"""

TOLD = {
    "name": "example",
    "title": "An example",
    "language": "Python",
    "library": "socket",
    "scenarios": ["echo"],
    "install": [[sys.executable, "-c", "import sys; open(sys.argv[1], 'w').close()", "{build}/installed"]],
    "start": [sys.executable, "-c", SERVER, "{port}"],
    "version": [sys.executable, "-c", "print('example 1.0'); print('more')"],
    "settings": "none",
}


class PeersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def peer(self, **changes) -> peers.Peer:
        file = self.folder / "example" / "peer.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({key: value for key, value in (TOLD | changes).items() if value is not None}))
        return peers.read(file, self.folder / "cache")

    def test_a_peer_is_installed_into_its_build_folder_and_tells_its_version_in_a_line(self):
        peer = self.peer()
        peer.install()
        self.assertTrue((self.folder / "cache" / "peers" / "example" / "installed").exists())
        self.assertEqual(peer.version(), "example 1.0")
        self.assertEqual([path.name for path in peer.folder.iterdir()], ["peer.json"])

    def test_a_peer_listens_while_it_is_started_and_not_afterwards(self):
        with self.peer().start(None) as running:
            host, _, port = running.address.partition(":")
            socket.create_connection((host, int(port)), timeout=10).close()
            self.assertGreater(processes.resident_bytes(processes.tree(running.pid)), 0)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection((host, int(port)), timeout=10)

    def test_a_peer_that_does_not_listen_is_told_with_its_last_words(self):
        peer = self.peer(start=[sys.executable, "-c", "raise SystemExit('no port in {folder}')"])
        with self.assertRaisesRegex(RuntimeError, r"no port in \{folder\}"), peer.start(None):
            self.fail("it does not listen")

    def test_a_peer_whose_program_is_gone_is_told_without_the_paths_of_this_machine(self):
        visits = {entrants.ECHO: entrants.Visit()}
        peer = self.peer(start=["{build}/nothing"])
        there = entrants.Entrant("example", "An example", "any", "any", "1", "none", peer, visits)
        scenario = plan.plan("competition-echo", True, 1, 1)[0]
        samples = Samples()
        plan.compete([scenario], [there], None, 1, samples)
        self.assertEqual(samples.faults, ["echo, 1 in flight, example: No such file or directory"])

    def test_a_program_that_is_needed_and_missing_is_named(self):
        with mock.patch("shutil.which", return_value=None), self.assertRaisesRegex(peers.NotInstalled, "rebar3"):
            self.peer(needs=["rebar3"]).install()

    def test_a_failed_installation_is_told_with_its_last_line(self):
        peer = self.peer(install=[[sys.executable, "-c", "print('first'); print('last'); raise SystemExit(3)"]])
        with self.assertRaisesRegex(peers.NotInstalled, "ended with 3: last"):
            peer.install()

    def test_a_file_that_does_not_keep_the_contract_says_what_is_wrong(self):
        for changes, words in (
            ({"title": None}, "it has no 'title'"),
            ({"start": "node server.js"}, "a list of words"),
            ({"scenarios": ["chat"]}, "unknown scenario 'chat'"),
            ({"name": "other"}, "the folder is 'example'"),
        ):
            with self.subTest(changes), self.assertRaisesRegex(peers.BadPeer, words):
                self.peer(**changes)

    def test_every_peer_here_keeps_the_contract(self):
        read = peers.read_all(REAL_PEERS, self.folder)
        self.assertEqual(len(read), len(list(REAL_PEERS.glob("*/peer.json"))))


if __name__ == "__main__":
    unittest.main()
