"""Counts instructions with valgrind's tool callgrind.

No benchmarking crate: one function of `bench/gauge` does all the counted work, and callgrind counts inside of it and
writes a file whenever it returns. So one run counts everything, and nothing of setting up.
"""

import json
import os
import re
import tempfile
from pathlib import Path

from runner.budgets import CannotMeasure
from runner.budgets.gauge import output_of

# Of bench/gauge/src/instructions.rs, in whatever module. No star at the end: of two options with the same such pattern
# callgrind heeds only the first.
COUNTED_FUNCTION = "*::instructions_are_counted"


def figures(gauge: Path) -> dict[str, float]:
    """Instructions of each operation, by the names of the budgets."""
    with tempfile.TemporaryDirectory(prefix="callgrind-") as folder:
        out = Path(folder) / "counted"
        options = ["--tool=callgrind", "--quiet", f"--callgrind-out-file={out}"]
        options += [f"--toggle-collect={COUNTED_FUNCTION}", f"--dump-after={COUNTED_FUNCTION}"]
        works = json.loads(output_of(["valgrind", *options, gauge, "instructions"]))
        # What it writes at the end, counted outside of the function, has no number.
        parts = sorted(Path(folder).glob("counted.*"), key=lambda path: int(path.suffix[1:]))
        return per_operation(works, [instructions_in(path.read_text()) for path in parts])


def per_operation(works: list[dict], counts: list[int]) -> dict[str, float]:
    """Work and counts come in the same order. A count of nothing is none: it would pass for a great improvement."""
    counts = [count for count in counts if count > 0]
    if len(counts) != len(works):
        raise CannotMeasure(f"callgrind counted {len(counts)} of {len(works)} functions: is the program stripped?")
    return {work["name"]: round(count / work["operations"], 1) for work, count in zip(works, counts)}


def instructions_in(text: str) -> int:
    """The sum of a file of callgrind's, of the event Ir."""
    total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
    return int(total[1]) if total else 0


def counted_with() -> str:
    """What instruction counts depend on beside our own code."""
    rustc = dict(line.partition(": ")[::2] for line in output_of(["rustc", "-vV"]).splitlines())
    valgrind = output_of(["valgrind", "--version"]).strip().replace("-", " ", 1)
    # Some libraries take another way where the processor has these; else valgrind shows the same processor everywhere.
    vectors = ["avx2"] if "avx2" in Path("/proc/cpuinfo").read_text().split() else []
    libc = os.confstr("CS_GNU_LIBC_VERSION")
    return ", ".join([f"rustc {rustc['release']}", rustc["host"], libc, valgrind, *vectors])
