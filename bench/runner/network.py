"""A network namespace of a run's own, with a hash table of TCP connections that has room for them.

The kernel finds the connection of each packet in that table, whose size depends on the machine's memory: 262,144 entries with 24
GiB. With both ends of two million connections, fifteen share an entry, and a packet's way past them was a third of what a
delivery cost (docs/performance.md). The machine's own table can only be enlarged at boot (`thash_entries`); that of a new
namespace, by the setting `net.ipv4.tcp_child_ehash_entries`, from Linux 6.2 on.
"""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

ENTRIES = Path("/proc/sys/net/ipv4/tcp_ehash_entries")
ENTRIES_OF_CHILDREN = Path("/proc/sys/net/ipv4/tcp_child_ehash_entries")
ENTRIES_MAX = 1 << 24
# A new namespace derives it from its table: of two million closed connections, one million would be kept for a minute, in the way
# of those that the next server is measured with.
CLOSED_MAX = Path("/proc/sys/net/ipv4/tcp_max_tw_buckets")
# Ends of connections that may share an entry before the search takes a noticeable part of a packet's time.
ENDS_PER_ENTRY_MAX = 4

# From linux/sched.h, linux/sockios.h and linux/if.h.
CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1


def entries() -> int | None:
    """Of this process's table; None where the kernel does not tell. Negative there if the table is the first namespace's."""
    return abs(int(ENTRIES.read_text())) if ENTRIES.exists() else None


@contextlib.contextmanager
def with_table_for(connections: int) -> Iterator[dict[str, tuple[int, int]]]:
    """Moves this thread, and what it starts, to a namespace whose table has an entry for each connection, if the present one is
    much too small for both ends. Yields {setting: (before, during)}."""
    before = entries()
    wanted = min(1 << (connections - 1).bit_length(), ENTRIES_MAX)
    if before is None or 2 * connections <= ENDS_PER_ENTRY_MAX * before:
        yield {}
        return
    closed_max = CLOSED_MAX.read_text()
    with contextlib.ExitStack() as at_end:
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        at_end.callback(os.close, home)
        try:
            _leave(wanted)
        except OSError as error:
            print(f"TCP's hash table has {before} entries for {2 * connections} ends: {error}", file=sys.stderr)
            yield {}
            return
        at_end.callback(_call, "setns", home, CLONE_NEWNET)
        _furnish(closed_max)
        print(f"TCP's hash table: {before} → {wanted} entries, in a network namespace of this run's own", file=sys.stderr)
        yield {"net.ipv4.tcp_ehash_entries": (before, wanted)}


def _leave(wanted: int) -> None:
    """For a new namespace with so many entries. An error, and nothing changed, without the right to."""
    # Opened here, it stays the setting of the namespace that is left.
    with ENTRIES_OF_CHILDREN.open("r+") as setting:
        original = setting.read()
        _write(setting, str(wanted))
        try:
            _call("unshare", CLONE_NEWNET)
        finally:
            _write(setting, original)


def _furnish(closed_max: str) -> None:
    CLOSED_MAX.write_text(closed_max)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def _write(setting, text: str) -> None:
    setting.seek(0)
    setting.write(text)
    setting.flush()


def _call(name: str, *arguments: int) -> None:
    """Calls a function of libc that Python has from 3.12 on."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
