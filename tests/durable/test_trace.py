"""The system calls of a server between what is written to its disk and what its clients are told.

Needs target/debug/throng (THRONG_BIN names another), and strace."""

import re
import unittest
from pathlib import Path

from environment import Stored
from harness.programs import find, wait_until
from harness.server import Server

# Messages of each talker.
MESSAGES = 60
WRITES = ("pwrite64", "pwritev", "write")
SENDS = ("sendto", "sendmsg", "writev", "write")
SYNCS = ("fdatasync", "fsync")
# More than all that is told to somebody in one call, so that nothing is cut off in the trace.
STRING_BYTES = 1 << 20
LOG, SOCKET = re.compile(r"\.sqlite3-wal$"), re.compile("^TCP")
CALL = re.compile(r"(?P<thread>\d+) +(?:<\.\.\. (?P<resumed>\w+) resumed>|(?P<call>\w+)\((?:\d+<(?P<file>[^>]*)>)?)")


class Traced(Server):
    """Under a strace that is its child, not its parent: who kills the server kills nothing else."""

    def __init__(self, folder: Path, name: str, settings: dict[str, str]):
        self.trace = folder / "trace"
        calls = ",".join(sorted({*WRITES, *SENDS, *SYNCS}))
        self.wrapper = [
            *(find("strace"), "--daemonize", "--follow-forks", "--decode-fds=path,socket"),
            *(f"--string-limit={STRING_BYTES}", "-e", f"trace={calls}", "-o", str(self.trace)),
        ]
        super().__init__(folder, name, settings)

    def kill(self) -> list[str]:
        """The lines of the trace."""
        self.process.kill()
        wait_until("the trace is whole", lambda: self._lines()[-1].endswith(" +++ killed by SIGKILL +++"))
        return self._lines()

    def _lines(self) -> list[str]:
        return self.trace.read_text(errors="replace").splitlines()


class Steps:
    """When something happened first, by lines of a trace."""

    def __init__(self, trace: list[str]):
        self.trace = trace
        self.calls = [CALL.match(line) for line in trace]

    def first(self, calls: tuple[str, ...], file: re.Pattern[str], text: str, begin: int = 0) -> int:
        """The line in which such a call begins that is about such a file and has a text."""
        for number in range(begin, len(self.trace)):
            found = self.calls[number]
            if found and found["call"] in calls and file.search(found["file"] or "") and text in self.trace[number]:
                return number
        raise AssertionError(f"nobody calls {calls} on {file.pattern} with {text}")

    def end(self, begun: int) -> int:
        """The line in which a call has ended that begins in that one."""
        if "<unfinished" not in self.trace[begun]:
            return begun
        thread = self.calls[begun]["thread"]
        for number in range(begun + 1, len(self.trace)):
            found = self.calls[number]
            if found and found["thread"] == thread:
                return number
        raise AssertionError(f"it does not end: {self.trace[begun]}")

    def assert_synced_before_told(self, text: str, told_text: str) -> None:
        """The first of these texts is written to the log, which then is synced, and after that the other one is told."""
        written = self.end(self.first(WRITES, LOG, text))
        synced = self.end(self.first(SYNCS, LOG, "", written))
        assert self.trace[synced].rstrip().endswith("= 0"), self.trace[synced]
        told = self.first(SENDS, SOCKET, told_text)
        assert synced < told, f"{text} was told before it was synced: {self.trace[told]}"


class Trace(Stored):
    def test_what_a_client_is_told_was_synced_before(self) -> None:
        server = self.start_server(Traced)
        talkers = self.talkers(server, "ann", "bob")
        for talker in talkers:
            talker.talk()
        for talker in talkers:
            talker.wait_for_acks(MESSAGES)
            talker.stop()
            talker.wait_until_all_is_acked()
        for talker in talkers:
            talker.wait_until_heard(sum(len(talker.acked) for talker in talkers))
        steps = Steps(server.kill())
        for talker in talkers:
            for client_id, (_, message) in talker.acked.items():
                # The log has the text; only what is told has the id as text, too. That one client id begins with another
                # does no harm: the shorter one is the older.
                steps.assert_synced_before_told(client_id, message)
        self.assertGreaterEqual(sum(len(talker.acked) for talker in talkers), 2 * MESSAGES)

    def test_what_is_told_too_early_is_found_in_a_trace(self) -> None:
        written = '2 pwrite64(9</s.sqlite3-wal>, "..text..", 8, 0) = 8'
        synced = "2 fdatasync(9</s.sqlite3-wal>) = 0"
        begun, ended = "2 fdatasync(9</s.sqlite3-wal> <unfinished ...>", "2 <... fdatasync resumed>) = 0"
        told = '1 sendto(7<TCP:[127.0.0.1:1->127.0.0.1:2]>, "..id..", 6, 0, NULL, 0) = 6'
        other = '1 sendto(7<TCP:[127.0.0.1:1->127.0.0.1:2]>, "..else..", 8, 0, NULL, 0) = 8'
        for trace in ([written, synced, told], [written, begun, other, ended, told]):
            Steps(trace).assert_synced_before_told("text", "id")
        for trace in (
            [written, told, synced],
            [written, begun, told, ended],
            [synced, written, told],
            [written, begun, told],
            [written, synced.replace("= 0", "= -1 EIO"), told],
        ):
            with self.subTest(trace), self.assertRaises(AssertionError):
                Steps(trace).assert_synced_before_told("text", "id")


if __name__ == "__main__":
    unittest.main()
