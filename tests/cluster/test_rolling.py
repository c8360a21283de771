"""Three nodes are restarted one after the other while Stampede's people talk on all of them, and by its own count nobody
misses anything or is told something twice.

Needs target/debug/throng and target/debug/stampede (THRONG_BIN and STAMPEDE_BIN name others) and a Redis. CLIENTS says how
many people there are; `make rolling-restart` plays 10,000 with optimised programs."""

import json
import os
import signal
import tempfile
import unittest
from pathlib import Path

from harness.engines import Redis
from harness.programs import ROOT, Process, foreign_variables, stampede, wait_until
from node import Node

SCENARIO = ROOT / "bench" / "scenarios" / "rolling-restart.yaml"
CLIENTS = int(os.environ.get("CLIENTS", "1000"))
# Members of a room, which all hear what one of them says.
MEMBERS = 20
# The whole crowd says so much in a second, however large it is.
MESSAGES_PER_SECOND = 400
SETTINGS = {"THRONG_HISTORY_TOPICS": "rooms:kept* messages=1000 age=10m", "THRONG_SHUTDOWN_SPREAD": "1s"}


class RollingRestart(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="throng-rolling-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_each_node_is_restarted_and_of_what_was_said_nothing_is_lost_or_doubled(self) -> None:
        redis = Redis(self.folder)
        self.addCleanup(lambda: redis.process.kill())
        nodes = [self.start_node(name, redis.url) for name in ("first", "second", "third")]
        for node in nodes:
            node.wait_for_bus()
        wait_until("every node knows the others", lambda: all(node.metric("throng_bus_nodes") == 3 for node in nodes))
        crowd = self.start_crowd(nodes)
        self.wait_until_all_are_in(crowd, nodes)
        for node in nodes:
            others = [other for other in nodes if other is not node]
            node.process.signal(signal.SIGTERM)
            self.assertEqual(node.process.wait(), 0, node.log()[-2000:])
            self.wait_until_all_are_in(crowd, others)
            node.start()
            node.wait_for_bus()
        crowd.signal(signal.SIGINT)
        crowd.wait()
        self.judge(self.summary(crowd))

    def judge(self, summary: dict) -> None:
        counts, latency = summary["counts"], summary["times"]["latency"]
        names = ("sent", "expected", "delivered", "lost", "duplicates", "late", "in_flight", "disconnects", "joins")
        told = ", ".join(f"{counts[name]:,} {name}" for name in names)
        p99_ms, longest_ms = latency["p99_us"] / 1000, latency["max_us"] / 1000
        print(f"\n{CLIENTS:,} clients: {told}; p99 {p99_ms:.1f} ms, longest {longest_ms:.1f} ms")
        wanted = {"users": CLIENTS, "users_failed": 0, "lost": 0, "duplicates": 0}
        self.assertEqual({name: counts[name] for name in wanted}, wanted, summary["errors"])
        self.assertEqual(summary["generator"]["publications_unjudged"], 0)
        # Each was sent away from the node on which it had been, with a close frame, and given what it missed elsewhere.
        self.assertGreaterEqual(counts["disconnects"], CLIENTS)
        self.assertEqual([error for error in summary["errors"] if error["kind"] == "step"], [])
        # What was not answered when a node ended is neither delivered nor lost: that must be the exception.
        self.assertLess(20 * counts["in_flight"], counts["expected"])

    def start_node(self, name: str, url: str) -> Node:
        node = Node(self.folder, name, {**SETTINGS, "THRONG_BUS_URL": url})
        self.addCleanup(lambda: node.process.kill())
        return node

    def start_crowd(self, nodes: list[Node]) -> Process:
        values = {name: f"ws://127.0.0.1:{node.port}" for name, node in zip(("first", "second", "third"), nodes)}
        values |= {
            "users": CLIENTS,
            "rooms": max(CLIENTS // MEMBERS, 1),
            "arrivals": f"{max(CLIENTS // 5, 1)}/s",
            "interval": f"{max(CLIENTS // MESSAGES_PER_SECOND, 1)}s",
        }
        sets = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
        command = [stampede(), "run", SCENARIO, *sets, "--quiet", "--out", self.folder / "runs"]
        crowd = Process([str(word) for word in command], self.folder / "stampede.log", foreign_variables())
        self.addCleanup(crowd.kill)
        return crowd

    def wait_until_all_are_in(self, crowd: Process, nodes: list[Node]) -> None:
        def are_in() -> bool:
            crowd.assert_runs()
            return sum(node.metric("throng_joined") for node in nodes) == CLIENTS

        wait_until(f"all {CLIENTS} are in their rooms", are_in)

    def summary(self, crowd: Process) -> dict:
        found = list((self.folder / "runs").glob("*/summary.json"))
        self.assertEqual(len(found), 1, f"Stampede left no summary: {crowd.log.read_text()[-2000:]}")
        return json.loads(found[0].read_text())


if __name__ == "__main__":
    unittest.main()
