"""The report of the seeds: what was measured, then and now side by side, as Markdown and as a result file."""

from dataclasses import dataclass
from pathlib import Path

from runner import report, results
from runner.competition.markup import Table
from runner.seeds import then
from runner.seeds.then import INVALID

SUBJECT = "throng"

HOW = (
    "Server and clients share the machine. Each run has its own server. The server's memory is its resident memory; "
    "processor time is relative to one core, measured by the kernel. The server's metrics are scraped every half second."
)
REPLICAS = (
    "Two replicas are two such servers with a Redis between them, behind HAProxy as deploy/haproxy/round-robin.cfg has it, "
    "all on this machine. Figures of the server are the sum of both, without Redis and HAProxy. The limit applies to both."
)
C10K = "The C10K test is one of the seeds, too, but part of `bench/run competition`."


@dataclass(frozen=True)
class Facts:
    """What is known of all runs together."""

    command: str
    machine: dict[str, str]
    settings_changed: dict[str, tuple[int, int]]
    seeds: list[str]
    # Processor time of the server in the runs with a limit.
    cores: float
    smoke: bool


@dataclass
class Kept:
    """What the runs came to, in their order."""

    measurements: list[dict]
    verdicts: list[dict]
    faults: list[str]
    missing: dict[str, str]

    def find(self, scenario: str, name: str) -> dict | None:
        return next((one for one in self.measurements if (one["scenario"], one["name"]) == (scenario, name)), None)


def document(kept: Kept, facts: Facts) -> dict:
    return results.document(
        "seeds",
        date=report.dated(),
        command=facts.command,
        machine=facts.machine,
        settings_changed=facts.settings_changed,
        missing=kept.missing,
        smoke=facts.smoke,
        measurements=kept.measurements,
        verdicts=kept.verdicts,
        faults=kept.faults,
        details={"cpu_limit_cores": facts.cores, "published": then.published()},
    )


def markdown(kept: Kept, facts: Facts) -> str:
    lines = ["# The seeds, then and now", "", report.dated(), "", f"- command: `{facts.command}`"]
    lines += [f"- {name}: {value}" for name, value in facts.machine.items()]
    lines += [f"- kernel setting {name}: {old} → {new}" for name, (old, new) in facts.settings_changed.items()]
    lines += [] if facts.settings_changed else ["- kernel settings: unchanged"]
    lines += ["- smoke run: the figures have no meaning"] if facts.smoke else []
    lines += ["", HOW, f"The limited server had {facts.cores:g} of a core.", REPLICAS, C10K]
    lines += [] if facts.smoke else _then_and_now(kept, facts)
    lines += ["", "## Measurements", ""]
    lines += [f"A {INVALID} marks INVALID runs, in which the generator was the limit.", ""]
    for table in _measured(kept):
        lines += [*table.markdown(), ""]
    lines += ["## Stampede's verdicts", "", *_verdict_lines(kept.verdicts)]
    lines += _listed("Skipped", [f"{name}: {why}" for name, why in kept.missing.items()])
    lines += _listed("Wrong counts", kept.faults or ["None: all counts are correct."])
    return "\n".join(lines) + "\n"


def write(kept: Kept, facts: Facts, path: Path) -> Path:
    """Both files, whose names begin so, in place of what there was; the path of the readable one. Before anything was
    measured there is nothing to write."""
    if kept.measurements:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(results.text_of(document(kept, facts)))
        path.with_suffix(".md").write_text(markdown(kept, facts))
    return path.with_suffix(".md")


def _then_and_now(kept: Kept, facts: Facts) -> list[str]:
    lines, published = [], then.published()
    for seed, table in then.tables(facts.seeds, kept.find).items():
        told = published[seed]
        lines += ["", f"## {seed[0].upper()}{seed[1:]}: then and now", "", f"Then: {told['source']}.", ""]
        lines += [f"On: {told['machine']}.", "", *table.markdown()]
    return lines


def _measured(kept: Kept) -> list[Table]:
    """A table for each set of figures: runs that were asked for the same stand under each other."""
    by_scenario: dict[str, dict[str, dict]] = {}
    for one in kept.measurements:
        by_scenario.setdefault(one["scenario"], {})[one["name"]] = one
    found: dict[tuple, Table] = {}
    for scenario, figures in by_scenario.items():
        head = tuple(figures)
        table = found.setdefault(head, Table(["run", *(name.replace("_", " ") for name in head)]))
        mark = "" if all(one["valid"] for one in figures.values()) else f" {INVALID}"
        table.rows.append([scenario + mark, *(report.number(one["median"]) for one in figures.values())])
    return list(found.values())


def _verdict_lines(verdicts: list[dict]) -> list[str]:
    invalid = [one for one in verdicts if not one["valid"]]
    lines = [f"{len(verdicts) - len(invalid)} of {len(verdicts)} runs are VALID."]
    lines += [""] if invalid else []
    for one in invalid:
        lines += [f"- {one['run']}: **INVALID**", *(f"  - {reason}" for reason in one["reasons"])]
    return lines


def _listed(heading: str, lines: list[str]) -> list[str]:
    return ["", f"## {heading}", "", *(f"- {line}" for line in lines)] if lines else []
