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
# More than a page of the log, and than any frame here.
STRING_BYTES = 16_384
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

    def first(self, calls: tuple[str, ...], file: str, text: str, begin: int = 0) -> int:
        """The line in which such a call begins that is about such a file and has a text."""
        for number in range(begin, len(self.trace)):
            found = self.calls[number]
            if found and found["call"] in calls and file in (found["file"] or "") and text in self.trace[number]:
                return number
        raise AssertionError(f"nobody calls {calls} on {file} with {text}")

    def end_of_sync(self, begin: int) -> int:
        """The line in which a sync of the log has ended that begins there or later."""
        begun = self.first(SYNCS, "-wal", "", begin)
        end = begun
        if "<unfinished" in self.trace[begun]:
            thread = self.calls[begun]["thread"]
            ends = (n for n, call in enumerate(self.calls) if n > begun and call and call["thread"] == thread)
            end = next(ends)
            assert self.calls[end]["resumed"] in SYNCS, self.trace[end]
        assert self.trace[end].rstrip().endswith("= 0"), self.trace[end]
        return end


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
                # In the log stands the text, in what is told the id as well.
                written = steps.first(WRITES, "-wal", client_id)
                synced = steps.end_of_sync(written)
                told = steps.first(SENDS, "TCP", message)
                self.assertLess(synced, told, f"{client_id} was told before it was synced")
        self.assertGreaterEqual(sum(len(talker.acked) for talker in talkers), 2 * MESSAGES)


if __name__ == "__main__":
    unittest.main()
