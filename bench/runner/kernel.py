"""The kernel's settings that many connections need, and what it tells about memory.

Settings are changed only as root, only upwards, and put back at the end.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from runner import network


def needed(connections: int) -> dict[str, int]:
    """The least that each setting must be for so many pairs on this machine."""
    return {
        "fs.file-max": 2 * connections + 100_000,  # both ends are here
        "net.core.somaxconn": 4096,  # 128 handshakes under way on each of the driver's threads
        "net.ipv4.tcp_max_syn_backlog": 2048,
        # Packets that wait for one processor. While crowds are served or leave, the default of 1000 is full at times: what comes
        # then is dropped, and sent again after 0.2 seconds, or after a second if it was to open a connection, be it a scrape's.
        "net.core.netdev_max_backlog": 30_000,
        # All of them may be closed at once. Whoever closes beyond it is answered with a reset, and so is whoever else
        # closes then, be it a scrape's connection.
        "net.ipv4.tcp_max_orphans": 2 * connections,
        # Pages of all TCP buffers, of which each end takes one for whatever is on its way. Beyond it, who closes while
        # something is on its way is reset, too.
        "net.ipv4.tcp_mem": 2 * connections,
    }


@contextlib.contextmanager
def settings_for(connections: int) -> Iterator[dict[str, tuple[int, int]]]:
    """Raises what is too low; yields {setting: (before, during)}. Of one with thresholds below its limit, that is the limit:
    all of them are raised to it. Whoever needs a larger table of connections is in a network namespace of its own meanwhile."""
    changed: dict[str, tuple[int, int]] = {}
    originals: dict[Path, str] = {}
    try:
        for name, least in needed(connections).items():
            path = _path(name)
            if not path.exists():
                continue  # within a network namespace of one's own
            original = path.read_text()
            numbers = original.split()
            before = int(numbers[-1])
            if before >= least:
                continue
            if os.geteuid() != 0:
                print(f"{name} is {before}, {least} is needed, and only root can set it", file=sys.stderr)
                continue
            path.write_text(" ".join([str(least)] * len(numbers)))
            originals[path] = original
            changed[name] = (before, least)
            print(f"{name}: {before} → {least} until the end of this run", file=sys.stderr)
        # Last: some of these exist only outside.
        with network.with_table_for(connections) as table:
            yield changed | table
    finally:
        for path, original in originals.items():
            path.write_text(original)


def resident_bytes(pid: int) -> int:
    """Resident set of a process (VmRSS)."""
    return _kibibytes(Path(f"/proc/{pid}/status"), "VmRSS:")


def slab_bytes() -> int:
    """The kernel's slab caches, the whole machine's: sockets, files, epoll entries, port bindings."""
    return _kibibytes(Path("/proc/meminfo"), "Slab:")


def available_bytes() -> int:
    """What could still be had: free pages and those that hold files. MemAvailable is no measure here: it takes the
    inodes and dentries of sockets for reclaimable, which they are not while the sockets are open."""
    return sum(_kibibytes(Path("/proc/meminfo"), key) for key in ("MemFree:", "Active(file):", "Inactive(file):"))


def socket_memory_bytes() -> int:
    """What TCP has in buffers, both directions (`mem` of /proc/net/sockstat, in pages)."""
    line = _first_value(Path("/proc/net/sockstat"), "TCP")
    return int(line.rpartition("mem ")[2]) * os.sysconf("SC_PAGE_SIZE")


def machine() -> dict[str, str]:
    """Facts without which no figure means anything."""
    return {
        "cores": str(os.cpu_count()),
        "model": _first_value(Path("/proc/cpuinfo"), "model name"),
        "kernel": os.uname().release,
        "memory": f"{_kibibytes(Path('/proc/meminfo'), 'MemTotal:') / 2**30:.1f} GiB",
        "descriptors per table": _hard_limit(),
        "load average at start": Path("/proc/loadavg").read_text().split()[0],
    }


def _hard_limit() -> str:
    import resource

    return str(resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def _path(setting: str) -> Path:
    return Path("/proc/sys") / setting.replace(".", "/")


def _first_value(path: Path, key: str) -> str:
    for line in path.read_text().splitlines():
        if line.startswith(key):
            return line.partition(":")[2].strip()
    return "unknown"


def _kibibytes(path: Path, key: str) -> int:
    """The value of a line such as `VmRSS:  123 kB`, in bytes."""
    return int(_first_value(path, key.rstrip(":")).split()[0]) * 1024
