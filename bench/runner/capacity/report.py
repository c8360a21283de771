"""The report of the capacity benchmarks: Markdown to read, JSON to compare, pictures to see."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from runner import version
from runner.capacity import pictures
from runner.capacity.plan import Configuration, Group, Search
from runner.capacity.search import Found, Outcome, Rules
from runner.competition.markup import Table
from runner.report import now, number

HOW = (
    "Each result is the largest load that met all conditions, found by `stampede search` against a separate server: the "
    "load grows until it fails, then the interval is bisected. The last column names the load that failed.",
    "The server has one core and one shard and Stampede has the other cores, unless the group says otherwise. **≥** "
    "means that the limit was the generator or the allowed range instead of the server, which may carry more.",
)


@dataclass(frozen=True)
class Facts:
    """What is known of a run besides its outcomes."""

    command: str
    machine: dict[str, str]
    settings_changed: dict[str, tuple[int, int]]
    smoke: bool
    missing: dict[str, str]
    rules: Rules


def markdown(groups: list[Group], outcomes: dict[Search, Outcome], facts: Facts, drawn: dict[str, list[str]]) -> str:
    """To read; `drawn` are the pictures of each group, beside the file, if there are any."""
    lines = ["# Capacity of Throng", "", *(f"- {line}" for line in _fact_lines(facts))]
    lines += [line for text in (*HOW, *_limit_lines(facts.rules)) for line in ("", text)]
    for group in groups:
        lines += ["", f"## {group.title}", "", f"Load: {group.load}.", "", *_table(group, outcomes).markdown()]
        lines += ["", f"Conditions: {', '.join(f'`{c}`' for c in _conditions(group))}."]
        lines += [line for name in drawn.get(group.name, []) for line in ("", f"![{group.title}]({name})")]
        if invalid := _invalid(group, outcomes):
            lines += ["", "Runs that were INVALID, at these loads:", "", *invalid]
    wrong = faults(outcomes, facts.smoke)
    lines += ["", "## Faults", "", *([f"- {fault}" for fault in wrong] or ["None."])]
    return "\n".join(lines) + "\n"


def data(groups: list[Group], outcomes: dict[Search, Outcome], facts: Facts) -> dict:
    """To compare."""
    configurations = [(group, c, outcomes[c.search]) for group in groups for c in group.configurations]
    return {
        "format": 1,
        "kind": "capacity",
        "date": f"{now():%Y-%m-%d %H:%M UTC}",
        "command": facts.command,
        "version": version.facts(),
        "machine": facts.machine,
        "settings_changed": {name: list(values) for name, values in facts.settings_changed.items()},
        "missing": facts.missing,
        "smoke": facts.smoke,
        "measurements": [_measurement(*one) for one in configurations if one[2].found and one[2].found.held],
        "targets": [],
        "verdicts": [],
        "faults": faults(outcomes, facts.smoke),
        "details": {
            "rules": asdict(facts.rules),
            "answers": [_answer(*one) | {"cpu_limit": facts.rules.cpu_limit} for one in configurations],
        },
    }


def write(groups: list[Group], outcomes: dict[Search, Outcome], facts: Facts, stampede: Path, folder: Path) -> Path:
    """All files; the path of the readable one."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {group.name: pictures.write(group, outcomes, stampede, folder) for group in groups}
    return write_figures(groups, outcomes, facts, drawn, folder)


def write_figures(
    groups: list[Group], outcomes: dict[Search, Outcome], facts: Facts, drawn: dict[str, list[str]], folder: Path
) -> Path:
    """All but the pictures, in place of what there was; the path of the readable file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "capacity.json").write_text(json.dumps(data(groups, outcomes, facts), indent=1) + "\n")
    readable = folder / "capacity.md"
    readable.write_text(markdown(groups, outcomes, facts, drawn))
    return readable


def told(outcome: Outcome) -> str:
    """In a few words."""
    if outcome.found is None:
        return outcome.fault or "no result"
    return f"{capacity(outcome.found)} ({verdict(outcome.found)})"


def capacity(found: Found) -> str:
    if found.held is None:
        return "unknown" if found.is_at_least else "no load held"
    return f"{'≥ ' * found.is_at_least}{found.held:,}"


def verdict(found: Found) -> str:
    """What bounds the answer, in words."""
    beyond = "" if found.failed is None else f"{found.failed:,} does not hold"
    words = {
        "server": beyond,
        "range": "the maximum load held",
        "generator": "the generator was the limit" + (f" at {found.invalid:,}" if found.invalid else ""),
        "nothing_held": "not even the smallest load held",
        "trials": "the limit varies between runs",
        "stopped": "stopped",
        "time": ", ".join(filter(None, ("time limit reached", beyond))),
    }
    return words.get(found.limit, found.limit)


def faults(outcomes: dict[Search, Outcome], smoke: bool) -> list[str]:
    """Searches that came to nothing; of a smoke run, whose loads anything must carry, also counts that are wrong."""
    wrong = [f"{search.scenario}: {outcome.fault}" for search, outcome in outcomes.items() if outcome.fault]
    if smoke:
        wrong += [fault for search, outcome in outcomes.items() for fault in _count_faults(search, outcome)]
    return wrong


def _count_faults(search: Search, outcome: Outcome) -> list[str]:
    runs = outcome.found.runs if outcome.found else []
    name = f"{search.scenario} ({search.setup.words})"
    wrong = [] if runs or outcome.fault else [f"{name}: no runs"]
    for run in runs:
        wrong += [f"{name}: {run.counts[key]} {key}" for key in ("lost", "errors") if run.counts[key]]
        wrong += [f"{name}: {run.counts[key]} {key}" for key in ("sent", "delivered") if not run.counts[key]]
    return wrong


def _measurement(group: Group, configuration: Configuration, outcome: Outcome) -> dict:
    """The figure alone, in the form that all results have; its spread goes up to the load that failed."""
    held = outcome.found.held
    return {
        "scenario": group.name,
        "subject": configuration.name,
        "name": "largest_load",
        "unit": "count",
        "repeats": [held],
        "median": held,
        "least": held,
        "greatest": held if outcome.found.is_at_least else outcome.found.failed,
        "valid": True,
    }


def _answer(group: Group, configuration: Configuration, outcome: Outcome) -> dict:
    """All that is known of it."""
    search, found = configuration.search, outcome.found
    described = {
        "group": group.name,
        "name": configuration.name,
        "unit": group.load,
        "measure": group.measure,
        "per_load": configuration.per_load,
        "scenario": search.scenario,
        "variables": dict(search.variables),
        "setup": asdict(search.setup),
        "until": list(search.until),
        "fault": outcome.fault,
    }
    if found is None:
        return described | {"value": None, "verdict": "not measured"}
    at = found.at_answer
    return described | {
        "value": found.held,
        # The answer lies from the one up to the other, which is not known where the generator was the limit.
        "least": found.held,
        "greatest": None if found.is_at_least else found.failed,
        "at_least": found.is_at_least,
        "limit": found.limit,
        "verdict": verdict(found),
        "runs_held": found.held_runs,
        "runs_failed": found.failed_runs,
        "latency_ms": at.latency_ms if at else {},
        "counts": at.counts if at else {},
        "server_cores_busiest_second": at.server_cores if at else None,
        "runs": [{"load": run.load, "outcome": run.outcome, "reasons": run.reasons} for run in found.runs],
    }


def _table(group: Group, outcomes: dict[Search, Outcome]) -> Table:
    table = Table(["", "largest load", group.measure, "latency: p50 / p99 / maximum", "server cores", ""], words=1)
    for configuration in group.configurations:
        outcome = outcomes[configuration.search]
        found = outcome.found
        if found is None:
            table.rows.append([configuration.name, "", "", "", "", outcome.fault or ""])
            continue
        at, scaled = found.at_answer, _scaled(found, configuration)
        parts = [f"{number(at.latency_ms[part])} ms" for part in ("p50", "p99", "max")] if at and at.latency_ms else []
        cores = f"{at.server_cores:.2f}" if at and at.server_cores is not None else ""
        table.rows.append([configuration.name, capacity(found), scaled, " / ".join(parts), cores, verdict(found)])
    return table


def _invalid(group: Group, outcomes: dict[Search, Outcome]) -> list[str]:
    """Those runs, and what Stampede says of each."""
    return [
        f"- {configuration.name}, {run.load:,}: {' '.join(run.reasons)}"
        for configuration in group.configurations
        if (found := outcomes[configuration.search].found)
        for run in found.runs
        if run.outcome == "invalid"
    ]


def _scaled(found: Found, configuration: Configuration) -> str:
    if found.held is None:
        return ""
    return f"{'≥ ' * found.is_at_least}{number(found.held * configuration.per_load)}"


def _conditions(group: Group) -> list[str]:
    return list(dict.fromkeys(condition for c in group.configurations for condition in c.search.until))


def _limit_lines(rules: Rules) -> list[str]:
    if rules.cpu_limit is None:
        return []
    return [
        f"A control group leaves the server {rules.cpu_limit:g} of a core's time, so that the generator can make more than the "
        "server carries."
    ]


def _fact_lines(facts: Facts) -> list[str]:
    lines = [f"{now():%Y-%m-%d %H:%M UTC}", f"version: {version.of_the_workspace()}, {version.commit()}"]
    lines += [f"command: `{facts.command}`", *(f"{name}: {value}" for name, value in facts.machine.items())]
    lines += [f"kernel setting {name}: {old} → {new}" for name, (old, new) in facts.settings_changed.items()]
    lines += [] if facts.settings_changed else ["kernel settings: unchanged"]
    lines += [f"skipped: {name}, {reason}" for name, reason in facts.missing.items()]
    return lines + (["smoke run: the figures have no meaning"] if facts.smoke else [])
