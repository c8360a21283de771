"""A server with a memory budget, in a control group with a limit a sixteenth above it, as docs/operations.md says: whatever
its clients do, the kernel never ends it for want of memory, whether the budget was written or taken from the limit.

Needs target/debug/throng (THRONG_BIN names another), root, and a hierarchy of control groups with memory in it."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import crowd
import group
from harness.programs import DEADLINE_SECONDS, HOST, foreign_variables, free_port, throng, wait_until
from harness.server import Server
from harness.websocket import Refused, WebSocket
from watch import Most, Watch

# Enough for the server without any client, which is built without optimisation here, and for some thousand.
BUDGET_MEBIBYTES = 64
BUDGET_BYTES = BUDGET_MEBIBYTES << 20
LIMIT_BYTES = BUDGET_BYTES // 16 * 17
# Where the server's own account of its memory stands at its highest: it is looked at now and then, and what came in between is
# above the budget. Sockets' buffers are in it, which a group of version 1 does not count.
MET_BYTES, KEPT_BYTES = BUDGET_BYTES // 4 * 3, BUDGET_BYTES // 8 * 9
# For everything that the clients want.
ROOMY_BYTES = 16 * LIMIT_BYTES
HISTORY_MEBIBYTES = 2
BUDGET = {"THRONG_LIMITS_MEMORY_BUDGET": f"{BUDGET_MEBIBYTES}MiB"}
NO_BUDGET = {"THRONG_LIMITS_MEMORY_BUDGET": "off"}
# Then the limit says.
UNWRITTEN: dict[str, str] = {}
TOO_LARGE = {"THRONG_LIMITS_MEMORY_BUDGET": f"{2 * BUDGET_MEBIBYTES}MiB"}
SETTINGS = {
    "THRONG_HISTORY_TOPICS": "rooms:kept messages=100000 age=10m bytes=1GiB",
    "THRONG_HISTORY_MEMORY": f"{HISTORY_MEBIBYTES}MiB",
    "THRONG_SHUTDOWN_SPREAD": "100ms",
}

PUBLICATIONS = 1500
PUBLICATION_BYTES = 8000
# Each of the two crowds wants more than the limit is.
SLOW_READERS = 100
BEGINNERS = 100
# Whose sockets' buffers, small as they are, would hold more than the kernel's part.
NON_READERS = 400
# The kernel's part for those who do not read, and a write more of each shard.
UNREAD_BYTES = BUDGET_BYTES // 12
# More than the budget has room for without anybody else.
NEWCOMERS = 9000
REFUSALS = 200


class Limited(Server):
    """Runs within a group."""

    def __init__(self, within: group.Group, folder: Path, budget: dict[str, str]):
        self.wrapper = within.entering()
        super().__init__(folder, "throng", {**SETTINGS, **budget})


class Budget(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="throng-budget-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, limit_bytes: int, budget: dict[str, str]) -> None:
        self.group = self.a_group(limit_bytes)
        crowd.raise_descriptor_limit()
        self.server = Limited(self.group, self.folder, budget)
        self.addCleanup(self.server.process.kill)

    def a_group(self, limit_bytes: int) -> group.Group:
        try:
            return self.enterContext(group.limited(limit_bytes, f"throng-budget-{os.getpid()}"))
        except group.NoGroup as reason:
            # Said aloud, or it would look as if it had been shown.
            print(f"not shown, that a memory budget keeps the kernel from ending a server: {reason}", file=sys.stderr)
            self.skipTest(str(reason))

    def test_whatever_clients_do_the_server_lives_within_its_limit_and_says_what_it_refuses(self) -> None:
        self.start(LIMIT_BYTES, BUDGET)
        self.assert_lives()

    def test_a_server_takes_its_budget_from_the_limit_of_its_group_and_lives_within_it(self) -> None:
        self.start(LIMIT_BYTES, UNWRITTEN)
        limit = f"by the control group's limit of {LIMIT_BYTES >> 20} MiB ({self.group.limit_file()})"
        wait_until("it says so", lambda: f"memory budget {BUDGET_MEBIBYTES} MiB: room for about " in self.server.log())
        self.assertIn(limit, self.server.log())
        self.assertEqual(self.server.metric(f'throng_memory_limit_bytes{{file="{self.group.limit_file()}"}}'), LIMIT_BYTES)
        room = self.server.metric("throng_memory_budget_idle_connections")
        self.assertIn(f"{room:.0f} idle connections, {limit}", self.server.log())
        self.assert_lives()

    def test_a_budget_beyond_the_limit_is_warned_of(self) -> None:
        self.start(LIMIT_BYTES, TOO_LARGE)
        warning = f"the memory budget exceeds the control group's limit of {LIMIT_BYTES >> 20} MiB"
        wait_until("it warns", lambda: warning in self.server.log())

    def test_the_doctor_says_what_the_limit_leaves(self) -> None:
        self.group = self.a_group(LIMIT_BYTES)
        limit = f"the control group's limit of {LIMIT_BYTES >> 20} MiB ({self.group.limit_file()})"
        for settings, said, stops in [
            (UNWRITTEN, f"{BUDGET_MEBIBYTES} MiB, by {limit}: room for about ", False),
            (TOO_LARGE, f"the kernel will kill the server at {limit}", True),
        ]:
            status, check = self.doctor(settings)
            self.assertIn(said, check["text"])
            self.assertEqual(check["state"] == "stop", stops, check)
            self.assertEqual(status != 0, stops, check)

    def doctor(self, settings: dict[str, str]) -> tuple[int, dict]:
        """Its exit code within the group, and what it says of the memory budget."""
        own = {"THRONG_LISTEN": f"{HOST}:{free_port()}", "THRONG_ADMIN_LISTEN": "off", "THRONG_DATA_DIR": str(self.folder)}
        command = [*self.group.entering(), throng(), "doctor", "--json", "--clients", "100"]
        environment = {**foreign_variables(), **own, **settings}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
        checks = json.loads(done.stdout)["diagnosis"]["checks"]
        return done.returncode, next(check for check in checks if check["subject"] == "memory budget")

    def assert_lives(self) -> None:
        port = self.server.port
        with Watch(self.server) as watch:
            stayer = crowd.member(port, "rooms:kept")
            self.addCleanup(stayer.close)
            self.publish(stayer)
            slow = crowd.slow_readers(port, SLOW_READERS, crowd.SEGMENT)
            begun = crowd.beginners(port, BEGINNERS)
            members, refused = crowd.newcomers(port, NEWCOMERS, REFUSALS)
            self.assertEqual(set(refused), {503}, f"{len(members)} came in")
            self.assertEqual(self.server.readiness()[0], 200)
            # Who is there stays, and is served.
            for client in (stayer, members[0], members[-1]):
                self.assert_served(client)
        self.assertEqual(watch.problems, [])
        self.assertGreater(watch.answers, 10)
        self.assertTrue(MET_BYTES < watch.highest_bytes < KEPT_BYTES, f"{watch.highest_bytes:,.0f}")
        self.assert_told()
        self.assert_within()

        for client in (*slow, *begun, *members):
            client.close()
        wait_until("there is room again", lambda: is_let_in(port))
        self.assert_served(stayer)
        self.assert_within()

    def test_without_a_budget_the_same_clients_take_more_than_the_limit(self) -> None:
        # Else the test above says nothing. Under the limit itself the kernel would read the program from the disk again and
        # again for half a minute, before it ends it.
        self.start(ROOMY_BYTES, NO_BUDGET)
        clients = crowd.slow_readers(self.server.port, SLOW_READERS, crowd.SEGMENT)
        clients += crowd.beginners(self.server.port, BEGINNERS)
        self.assert_served(clients[0])
        wait_until("it is more", lambda: self.group.peak_bytes() > LIMIT_BYTES)
        for client in clients:
            client.close()

    def test_what_the_kernel_keeps_for_who_does_not_read_stays_within_its_part(self) -> None:
        self.start(LIMIT_BYTES, BUDGET)
        port = self.server.port
        stayer = crowd.member(port, "rooms:stays")
        self.addCleanup(stayer.close)
        with Most(lambda: crowd.unread_bytes(port)) as most:
            clients = crowd.slow_readers(port, NON_READERS)
            wait_until("they are cut", lambda: self.closed() >= NON_READERS // 2)
            self.assert_served(stayer)
        self.assertTrue(0 < most.value < UNREAD_BYTES, f"{most.value:,}")
        self.assert_within()
        for client in clients:
            client.close()

    def test_without_a_budget_the_kernel_keeps_more_for_them_than_the_limit(self) -> None:
        # A group of version 1 does not count it: it is the machine that runs out of memory.
        self.start(ROOMY_BYTES, NO_BUDGET)
        clients = crowd.slow_readers(self.server.port, SLOW_READERS)
        wait_until("it is more", lambda: crowd.unread_bytes(self.server.port) > LIMIT_BYTES)
        for client in clients:
            client.close()

    def closed(self) -> float:
        """Who has read nothing, or was in the middle of asking for more when that had its part, too."""
        reasons = ("slow_consumer", "memory_budget")
        return sum(self.server.metric(f'throng_connections_closed_total{{reason="{reason}"}}') for reason in reasons)

    def publish(self, stayer: WebSocket) -> None:
        """More than the histories may keep."""
        self.assertGreater(PUBLICATIONS * PUBLICATION_BYTES, 2 * HISTORY_MEBIBYTES << 20)
        body = "x" * PUBLICATION_BYTES
        for reference in range(PUBLICATIONS):
            stayer.send(f'["1","p{reference}","rooms:kept","new_msg",{{"body":"{body}"}}]')
            wait_for(stayer, f'"p{reference}"')

    def assert_served(self, client: WebSocket) -> None:
        client.send('[null,"alive","phoenix","heartbeat",{}]')
        wait_for(client, '"alive"')

    def assert_told(self) -> None:
        """Each bound was met, and counted."""
        metric = self.server.metric
        for name in (
            'throng_rejected_total{reason="memory_budget"}',
            'throng_connections_closed_total{reason="slow_consumer"}',
            'throng_connections_closed_total{reason="memory_budget"}',
        ):
            self.assertGreater(metric(name), 0, name)
        self.assertEqual(metric("throng_memory_budget_bytes"), BUDGET_BYTES)
        histories = metric('throng_memory_bytes{component="histories"}')
        self.assertTrue(0 < histories <= 2 * HISTORY_MEBIBYTES << 20, histories)

    def assert_within(self) -> None:
        self.server.process.assert_runs()
        self.assertEqual(self.group.kills(), 0)
        self.assertLessEqual(self.group.peak_bytes(), LIMIT_BYTES)


class Group(unittest.TestCase):
    def test_the_hierarchy_that_names_memory_goes_before_the_unified_one(self) -> None:
        mounts = ("t /sys tmpfs rw", "c /sys/both cgroup2 rw", "c /sys/cpu cgroup rw,cpu", "c /sys/memory cgroup rw,memory")
        found = group.hierarchy("\n".join(f"{line} 0 0" for line in mounts))
        self.assertEqual(found, (Path("/sys/memory"), group.VERSION_1))
        self.assertEqual(
            group.hierarchy("c /sys/fs/cgroup cgroup2 rw 0 0\n"), (Path("/sys/fs/cgroup"), group.VERSION_2)
        )
        self.assertIsNone(group.hierarchy("t /sys tmpfs rw 0 0\n"))

    def test_both_versions_count_the_kernels_kills(self) -> None:
        self.assertEqual(group.kills_in("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"), 3)
        self.assertEqual(group.kills_in("low 0\nhigh 0\nmax 17\noom 2\noom_kill 1\noom_group_kill 0\n"), 1)


def wait_for(client: WebSocket, text: str) -> None:
    """Reads on to the message with this text."""
    while (message := client.receive()) is not None:
        if text in message:
            return
    raise AssertionError(f"the server closed before it said {text}")


def is_let_in(port: int) -> bool:
    try:
        crowd.member(port, "rooms:again").close()
    except Refused:
        return False
    return True


if __name__ == "__main__":
    unittest.main()
