"""Calls the load driver, one process for each measurement."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from runner import processes


# A measurement that takes longer is over; two million that connect and hear three broadcasts take ten minutes.
PATIENCE_S = 3600


class Driver:
    def __init__(self, binary: Path):
        self._binary = binary

    def run(self, server, *arguments) -> dict:
        """One measurement of `server`: the report that the driver printed."""
        finished = subprocess.run(self._command(server, arguments), stdout=subprocess.PIPE, check=True, timeout=PATIENCE_S)
        return json.loads(finished.stdout)

    def hold(self, server, steps: list[int], *arguments) -> Iterator[dict]:
        """Opens connections up to each step in turn; they stay open while the caller looks at the server. One more
        report follows: the census after all steps."""
        command = self._command(server, ("hold", "--steps", ",".join(map(str, steps)), *arguments))
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            for _ in steps:
                yield json.loads(process.stdout.readline())
                process.stdin.write("\n")
                process.stdin.flush()
            yield json.loads(process.stdout.readline())

    def _command(self, server, arguments) -> list[str]:
        pids = ",".join(map(str, processes.tree(server.pid)))
        common = ["--address", server.address, "--server-pid", pids]
        return [str(self._binary), *common, *map(str, arguments)]
