"""python3 -m unittest discover -s peers -t peers"""

import json
import re
import sys
import tempfile
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

from checker import conversations, judgement, websocket
from checker.faulty_server import Fault, FaultyServer
from checker.websocket import BINARY, Message, Wrong
from runner.competition import peers

HERE = Path(__file__).resolve().parent

# Of each fault a part of what is said of it. Where something does not come, the next word is what is seen.
COMPLAINTS = {
    Fault.ACCEPT_KEY: "Sec-WebSocket-Accept",
    Fault.COMPRESSION: "compression must be off",
    Fault.TEXT_AS_BINARY: "binary of 5 bytes .* instead of text of 5 bytes",
    Fault.LONG_CUT: "125 bytes .* instead of .* 126 bytes",
    Fault.EMPTY_LOST: "no data for",
    Fault.MASKS: "it masks a frame",
    Fault.OUT_OF_ORDER: "'message 1'.* instead of .*'message 0'",
    Fault.NO_PONG: "no data for",
    Fault.CLOSE_CODE: "instead of a close with code 1000",
    Fault.NO_FAREWELL: "it ends the connection",
    Fault.NOT_TO_SENDER: "to the sender: no data for",
    Fault.TO_EVERYBODY: "'to myself'.* instead of .*'to us'",
}

# A server that stands in for a peer: it listens on the port of its argument, without a fault.
PROGRAM = f"""
import socket, sys, time
sys.path.insert(0, {str(HERE.parent)!r})
create = socket.create_server
socket.create_server = lambda address: create(("127.0.0.1", int(sys.argv[1])), backlog=8192)
from checker.faulty_server import Fault, FaultyServer
FaultyServer(Fault.{{fault}})
time.sleep(600)
"""


class ConversationsTest(unittest.TestCase):
    def test_a_server_without_a_fault_has_no_complaints(self):
        self.assertEqual(list(complaints(Fault.NONE)), [])

    def test_each_fault_is_noticed_and_told(self):
        def is_noticed(fault: Fault) -> bool:
            return any(re.search(COMPLAINTS[fault], found) for found in complaints(fault))

        # What these servers keep to themselves never comes: waiting longer would tell no more.
        with mock.patch.object(websocket, "PATIENCE_S", 5), ThreadPoolExecutor(len(COMPLAINTS)) as threads:
            for fault, noticed in zip(COMPLAINTS, threads.map(is_noticed, COMPLAINTS)):
                with self.subTest(fault.value):
                    self.assertTrue(noticed)

    def test_every_fault_has_a_complaint(self):
        self.assertEqual(set(COMPLAINTS), set(Fault) - {Fault.NONE})


class FramesTest(unittest.TestCase):
    def test_the_length_of_a_frame_has_the_shortest_form(self):
        for length, head_bytes in ((0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)):
            with self.subTest(length):
                self.assertEqual(len(websocket.head(Message(BINARY, bytes(length)))), head_bytes)

    def test_a_mask_of_rfc_6455_gives_its_example(self):
        masked = websocket.apply_mask(b"Hello", bytes.fromhex("37fa213d"))
        self.assertEqual(masked, bytes.fromhex("7f9f4d5158"))


class JudgementTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def judge(self, fault: Fault = Fault.NONE, **changes) -> judgement.Judgement:
        told = {
            "name": "example",
            "title": "An example",
            "language": "Python",
            "library": "socket",
            "scenarios": ["echo", "broadcast"],
            "install": [],
            "start": [sys.executable, "-B", "-c", PROGRAM.format(fault=fault.name), "{port}"],
            "version": [sys.executable, "-c", "print('example 1.0')"],
            "settings": "none",
        }
        file = self.folder / "example" / "peer.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(told | changes))
        return judgement.judge(peers.read(file, self.folder / "cache"))

    def test_a_peer_that_keeps_the_contract_is_ok_and_tells_its_version(self):
        self.assertEqual(self.judge(), judgement.Judgement("example", judgement.OK, "example 1.0"))

    def test_a_peer_that_breaks_it_has_failed_and_the_conversation_is_named(self):
        found = self.judge(Fault.CLOSE_CODE)
        self.assertEqual(found.state, judgement.FAILED)
        self.assertRegex("; ".join(found.faults), "echo, a close is answered: received close of 2 bytes")

    def test_a_peer_whose_tools_are_not_there_is_missing(self):
        found = self.judge(needs=["no-such-program"])
        self.assertEqual((found.state, found.faults), (judgement.MISSING, ["not found on PATH: no-such-program"]))

    def test_a_peer_that_cannot_be_built_has_failed(self):
        found = self.judge(install=[[sys.executable, "-c", "raise SystemExit('no compiler')"]])
        self.assertEqual(found.state, judgement.FAILED)
        self.assertRegex(found.faults[0], "installation failed: .*no compiler")

    def test_a_peer_that_leaves_files_beside_its_sources_has_failed(self):
        found = self.judge(install=[[sys.executable, "-c", "open('left-over', 'w').close()"]])
        self.assertEqual(found.faults, ["its installation leaves left-over in its folder"])

    def test_a_peer_that_does_not_listen_has_failed_with_its_last_words(self):
        found = self.judge(start=[sys.executable, "-c", "raise SystemExit('no port')"])
        self.assertEqual(found.faults, ["it does not listen: no port"])


def complaints(fault: Fault) -> Iterator[str]:
    server = FaultyServer(fault)
    try:
        for scenario in ("echo", "broadcast"):
            for conversation in conversations.of_scenario(scenario).values():
                try:
                    conversation(server.address)
                except Wrong as wrong:
                    yield str(wrong)
    finally:
        server.close()


if __name__ == "__main__":
    unittest.main()
