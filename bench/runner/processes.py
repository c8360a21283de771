"""What a process and its children hold and use, as the kernel counts it."""

import os
import signal
import subprocess
import time
from pathlib import Path

from runner import kernel

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
STOP_PATIENCE_S = 30


def tree(pid: int) -> list[int]:
    """A process and all its descendants that live."""
    pids = [pid]
    for parent in pids:  # grows while it is walked
        try:
            children = [path.read_text() for path in Path(f"/proc/{parent}/task").glob("*/children")]
        except FileNotFoundError:
            continue
        pids += map(int, " ".join(children).split())
    return pids


def resident_bytes(pids: list[int]) -> int:
    """Resident sets together (VmRSS)."""
    return sum(map(_resident_bytes, pids))


def _resident_bytes(pid: int) -> int:
    """Of a process, or nothing where it has ended meanwhile: one that nobody has waited for has no such line."""
    try:
        return kernel.resident_bytes(pid)
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return 0


def cpu_seconds(pids: list[int]) -> float:
    """User and system time together."""
    return sum(cpu_ticks(Path(f"/proc/{pid}/stat").read_text()) for pid in pids) / TICKS_PER_SECOND


def clock_seconds(pids: list[int]) -> float:
    """The same by the processes' own clocks, which count nanoseconds where /proc counts hundredths of a second. A process
    that is gone is an error."""
    # The number of a process's clock is made as the kernel makes it (posix-timers.h, CPUCLOCK_SCHED = 2).
    return sum(time.clock_gettime(~pid << 3 | 2) for pid in pids)


def cpu_ticks(stat: str) -> int:
    """Of a line of /proc/PID/stat: fields 14 and 15. The name before them may hold blanks and brackets."""
    fields = stat.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def end(process: subprocess.Popen, by: int = signal.SIGTERM, patience_s: float = STOP_PATIENCE_S) -> None:
    """Ends the session of processes that `process` leads."""
    for request, patience_s in ((by, patience_s), (signal.SIGKILL, STOP_PATIENCE_S)):
        try:
            os.killpg(process.pid, request)
            process.wait(patience_s)
        except ProcessLookupError:
            process.wait(patience_s)
            return
        except subprocess.TimeoutExpired:
            continue
