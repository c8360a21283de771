"""Short turns are asked for, and go to what is started afterwards."""

import subprocess
import sys
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
# `se.slice` of /proc/self/sched is in nanoseconds; its parent asks, the child shows what it has.
SHOW = "print(next(line.split(':')[1].strip() for line in open('/proc/self/sched') if line.startswith('se.slice')))"


class Turns(unittest.TestCase):
    @unittest.skipUnless("se.slice" in Path("/proc/self/sched").read_text(), "this kernel does not show turns")
    def test_a_child_has_the_short_turns_that_its_parent_asked_for(self) -> None:
        program = f"""
import subprocess, sys
from runner.turns import SHORTEST_NS, ask_for_short_turns
ask_for_short_turns()
subprocess.run([sys.executable, "-c", {SHOW!r}], check=True)
"""
        ended = subprocess.run([sys.executable, "-B", "-c", program], cwd=BENCH, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(int(ended.stdout), 100_000)


if __name__ == "__main__":
    unittest.main()
