"""The report: Markdown to read, JSON to compare."""

import datetime
from pathlib import Path

from runner import kernel, results
from runner.samples import Samples, Spread
from runner.targets import Verdict


BASE = "floor"


def render(
    samples: Samples, verdicts: list[Verdict], changed: dict, missing: dict[str, str], options, facts=None
) -> tuple[str, dict]:
    """The same run as Markdown and as data. `facts` has what only suites know (`runner/trials.py`)."""
    machine, smoke, command = facts.machine if facts else kernel.machine(), options.smoke, command_of(options)
    kind = facts.kind if facts else "load" if options.group.startswith("load") else "bench"
    said, bases = (facts.verdicts, facts.bases) if facts else ([], (BASE,))
    lines = ["# Benchmark results", "", dated(), "", f"- command: `{command}`"]
    lines += [f"- {name}: {value}" for name, value in machine.items()]
    lines += [f"- kernel setting {name}: {before} → {during}" for name, (before, during) in changed.items()]
    lines += [] if changed else ["- kernel settings: unchanged"]
    lines += [f"- skipped: {name}, {reason}" for name, reason in missing.items()]
    lines += ["", "Medians, with the minimum and maximum of the repeats; ratios are computed within each repeat."]
    for scenario, by_server in samples.by_scenario.items():
        lines += ["", f"## {scenario}", "", *_scenario_table(samples, scenario, by_server, bases)]
    lines += ["", "## Targets", "", *(_smoke_note() if smoke else _target_table(verdicts))]
    lines += ["", "## Stampede's verdicts", "", *_said(said)] if said else []
    lines += ["", "## Counts", "", *([f"- {fault}" for fault in samples.faults] or ["All counts are correct."])]
    data = results.document(
        kind,
        date=dated(),
        command=command,
        machine=machine,
        settings_changed=changed,
        missing=missing,
        smoke=smoke,
        measurements=results.of_samples(samples),
        targets=[] if smoke else [_verdict_data(verdict) for verdict in verdicts],
        verdicts=said,
        faults=samples.faults,
    )
    return "\n".join(lines) + "\n", data


def command_of(options) -> str:
    """The run as it can be asked for again, without the folders of this machine."""
    flags = [f"--repeats {options.repeats}"]
    flags += ["--smoke"] if options.smoke else []
    flags += [f"--without '{name}'" for name in options.without]
    return " ".join(["bench/run", options.group, *flags])


def write(text: str, data: dict, group: str, folder: Path) -> Path:
    """Both files, named by date and group; the path of the readable one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{now():%Y-%m-%d-%H%M}-{group}"
    path.with_suffix(".json").write_text(results.text_of(data))
    path.with_suffix(".md").write_text(text)
    return path.with_suffix(".md")


def _said(verdicts: list[dict]) -> list[str]:
    """Of its runs that count for nothing, if there are any."""
    invalid = [f"- {one['run']}: INVALID: {'; '.join(one['reasons'])}" for one in verdicts if not one["valid"]]
    return invalid or [f"All {len(verdicts)} runs are valid."]


def _scenario_table(samples: Samples, scenario: str, by_server: dict, bases: tuple[str, ...]) -> list[str]:
    base = next((name for name in bases if name in by_server), None)
    beside = "the floor" if base in (BASE, None) else base
    rows = [f"| | value | measured | ratio to {beside} |", "|---|---|---|---|"]
    for server, by_name in by_server.items():
        for name in by_name:
            measured = samples.spread(scenario, server, name)
            ratio = None if base in (server, None) else samples.ratio(scenario, server, base, name)
            rows.append(f"| {server} | {name} | {cell(measured)} | {cell(ratio)} |")
    return rows


def _target_table(verdicts: list[Verdict]) -> list[str]:
    rows = ["| target | measured | verdict |", "|---|---|---|"]
    return rows + [f"| {v.target.text} | {cell(v.measured)} | {v.text} |" for v in verdicts]


def _smoke_note() -> list[str]:
    return ["None: a smoke run checks only counts."]


def _verdict_data(verdict: Verdict) -> dict:
    median = verdict.measured.median if verdict.measured else None
    return results.target(verdict.target.text, median, verdict.text.lower())


def cell(spread: Spread | None) -> str:
    """A median with the least and the greatest."""
    if spread is None:
        return ""
    return f"{number(spread.median)} ({number(spread.least)}–{number(spread.greatest)})"


def number(value: float) -> str:
    """Three digits that count, or whole thousands."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def now() -> datetime.datetime:
    """The time on reports."""
    return datetime.datetime.now(datetime.UTC)


def dated() -> str:
    """Now, as it stands on reports and in result files."""
    return f"{now():%Y-%m-%d %H:%M UTC}"
