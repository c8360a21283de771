"""How a run ends that is asked to."""

import signal
import sys


def end_in_order() -> None:
    """When the run is asked to end, or its terminal is gone, it ends the servers that it started: every context is
    left as by an exception. Python itself does so for SIGINT."""
    for asked in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(asked, lambda number, _: sys.exit(128 + number))
