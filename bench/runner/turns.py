"""How soon and how long a thread runs where many more want to than there are processors.

Who scrapes a server, or talks by it, has a machine of his own as a rule. Where everything is on one machine, his waiting
for a processor would count as the server's. So he asks for short turns, as the server's own thread for scrapes does: from
Linux 6.12 on, the scheduler lets those go first whose turns are short. His share of the processor stays that of others.
"""

import ctypes
import os
import platform
import sys

SHORTEST_NS = 100_000
# sched_setattr and sched_getattr, by `uname -m`.
SYSTEM_CALLS = {"x86_64": (314, 315), "aarch64": (274, 275)}


class Attributes(ctypes.Structure):
    """`struct sched_attr` in its first version, sched_setattr(2)."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    ]


def ask_for_short_turns() -> None:
    """For the calling thread, and for the threads and processes that it starts from now on. Where it cannot be had, they
    wait like all others, and a line on standard error says so."""
    if platform.machine() not in SYSTEM_CALLS:
        return _say(f"not known on {platform.machine()}")
    set_attributes, get_attributes = SYSTEM_CALLS[platform.machine()]
    system_call = ctypes.CDLL(None, use_errno=True).syscall
    attributes = Attributes()
    size = ctypes.sizeof(attributes)
    if system_call(get_attributes, 0, ctypes.byref(attributes), size, 0) != 0:
        return _say(os.strerror(ctypes.get_errno()))
    attributes.runtime = SHORTEST_NS
    if system_call(set_attributes, 0, ctypes.byref(attributes), 0) != 0:
        return _say(os.strerror(ctypes.get_errno()))


def _say(why: str) -> None:
    print(f"cannot shorten the scheduler's time slices: {why}", file=sys.stderr)
