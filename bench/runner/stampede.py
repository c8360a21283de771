"""Runs of Stampede, each a process in a session of its own, and the folder that one leaves."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runner import processes
from runner.turns import ask_for_short_turns

# To end after it was asked to: it writes its folder.
PATIENCE_S = 1200


class NoRun(RuntimeError):
    """Stampede ended without a result."""


@contextmanager
def started(
    command: list, folder: Path, patience_s: float = PATIENCE_S, short_turns: bool = False
) -> Iterator[subprocess.Popen]:
    """Runs `command`, which writes below `folder`; what it says goes to `output.log` there. SIGINT ends it orderly;
    when it has not ended so long afterwards, it is killed. `short_turns` are for a few users beside a crowd."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [str(part) for part in command]
    with (folder / "output.log").open("w") as output:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=ask_for_short_turns if short_turns else None,
        )
        try:
            yield process
        finally:
            processes.end(process, signal.SIGINT, patience_s)


def only_run(folder: Path) -> Path:
    """The folder of the only run below `folder`."""
    runs = [path for path in folder.iterdir() if path.is_dir()]
    if len(runs) != 1:
        raise NoRun(f"Stampede wrote no run folder: {' '.join(last_words(folder)) or 'no output'}")
    return runs[0]


def summary(run: Path) -> dict:
    """What the run came to; its form is docs/summary.schema.json."""
    path = run / "summary.json"
    if not path.exists():
        raise NoRun(f"Stampede wrote no summary: {' '.join(last_words(run.parent)) or 'no output'}")
    return json.loads(path.read_text())


def last_words(folder: Path) -> list[str]:
    """The last lines that it said."""
    return (folder / "output.log").read_text(errors="replace").strip().splitlines()[-3:]
