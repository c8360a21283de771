"""The pictures of a group: what each configuration carries, and Stampede's own of the runs at the answer and beyond it,
as "Scaling a basic chat" had them: percentiles cut at two seconds, mean and deviation, sent against received."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from runner.capacity.plan import Group, Search
from runner.capacity.search import Outcome
from runner.competition import bars
from runner.samples import Spread

# Of the plots that `stampede report` draws of several runs.
STAMPEDES = ("latency-percentiles", "latency-mean", "sent-and-received")


def write(group: Group, outcomes: dict[Search, Outcome], stampede: Path, folder: Path) -> list[str]:
    """All of a group into `folder`; their names."""
    written = [f"{group.name}-capacity.svg"]
    (folder / written[0]).write_text(capacities(group, outcomes))
    with tempfile.TemporaryDirectory(prefix="capacity-plots-") as own:
        runs = _runs(group, outcomes, Path(own))
        if not runs:
            return written
        command = [stampede, "report", *runs, "--output", own, "--json"]
        # Its status is that of the runs, some of which failed: that is what they are for.
        command = [str(part) for part in command]
        nothing = subprocess.DEVNULL
        subprocess.run(command, stdin=nothing, stdout=nothing, stderr=nothing, check=False)
        for name in STAMPEDES:
            plot = Path(own) / "plots" / f"{name}.svg"
            if plot.exists():
                written.append(f"{group.name}-{name}.svg")
                shutil.copy(plot, folder / written[-1])
    return written


def capacities(group: Group, outcomes: dict[Search, Outcome]) -> str:
    """A bar for each configuration; the thin line goes up to the load that failed."""
    drawn = []
    for configuration in group.configurations:
        found = outcomes[configuration.search].found
        if found is None or found.held is None:
            continue
        held, scale = found.held * configuration.per_load, configuration.per_load
        beyond = held if found.is_at_least or found.failed is None else found.failed * scale
        kind, note = ("peer", "at least") if found.is_at_least else ("ours", "")
        drawn.append(bars.Bar(configuration.name, kind, Spread(held, held, beyond), note))
    return bars.draw(f"{group.title}: {group.measure}", drawn, in_order=True)


def _runs(group: Group, outcomes: dict[Search, Outcome], folder: Path) -> list[Path]:
    """Copies of the runs to be drawn, named as they are to be called: a plot calls a run by its folder."""
    copies = []
    for configuration in group.configurations:
        found = outcomes[configuration.search].found
        for run, word in ((found.at_answer, ""), (found.beyond, " (too much)")) if found else ():
            if run is not None:
                # The load first: a plot cuts long names.
                copy = folder / f"{run.load:,}{word}, {configuration.name}".replace("/", "∕")
                shutil.copytree(run.folder, copy, ignore=shutil.ignore_patterns("plots", "report.html"))
                copies.append(copy)
    return copies
