"""What the kernel knows of a running peer: its descriptors, its backlog, and whether SIGTERM ends it."""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from runner import processes
from runner.servers import Running

DESCRIPTORS_MIN = 15_000
BACKLOG_MIN = 4096
# What a peer is started with, so that it has to raise it; as a login shell has it.
DESCRIPTORS_AT_START = 1024

END_PATIENCE_S = 20


def lower_descriptor_limit() -> None:
    """Of this process, and of what it starts from now on; the hard limit stays."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS_AT_START, most), most))


def faults(running: Running) -> list[str]:
    """Of a peer that listens."""
    found = [_descriptor_fault(running.pid), _backlog_fault(running.address)]
    return [fault for fault in found if fault]


def end_fault(running: Running) -> str | None:
    """Sends SIGTERM."""
    os.kill(running.pid, signal.SIGTERM)
    deadline = time.monotonic() + END_PATIENCE_S
    while time.monotonic() < deadline:
        if not _listens(running.address):
            return None
        time.sleep(0.05)
    return f"it is still listening {END_PATIENCE_S} s after SIGTERM"


def _descriptor_fault(pid: int) -> str | None:
    """Of the process that may open the most: others of its tree may be a shell or a watchdog."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = max(map(_descriptors, processes.tree(pid)), default=0)
    if allowed >= min(DESCRIPTORS_MIN, most):
        return None
    return f"it can open only {allowed} descriptors: it has not raised its soft limit to the hard one, {most}"


def _descriptors(pid: int) -> int:
    limits = Path(f"/proc/{pid}/limits").read_text()
    soft = re.search(r"^Max open files +(\S+)", limits, re.MULTILINE).group(1)
    return int(soft) if soft.isdigit() else DESCRIPTORS_MIN


def _backlog_fault(address: str) -> str | None:
    """The kernel shows the bound of a listener's queue to ss(8) only; where that is missing, nothing is said."""
    if shutil.which("ss") is None:
        return None
    port = address.rpartition(":")[2]
    command = ["ss", "-H", "-l", "-t", "-n", f"sport = :{port}"]
    fields = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    if len(fields) < 4:
        return "ss does not list it as listening"
    system_max = int(Path("/proc/sys/net/core/somaxconn").read_text())
    if int(fields[2]) >= min(BACKLOG_MIN, system_max):
        return None
    return f"its backlog is {fields[2]}, not {BACKLOG_MIN} or more"


def _listens(address: str) -> bool:
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True
