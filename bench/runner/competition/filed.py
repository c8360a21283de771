"""A competition that was filed, told anew: its figures are those of the file, its tables and pictures those of today."""

from collections.abc import Iterable
from pathlib import Path

from runner.competition import report
from runner.competition.entrants import Entrant
from runner.competition.facts import Facts
from runner.filed import Filed
from runner.samples import Samples


class NotACompetition(ValueError):
    """The file is of another kind."""


def told_anew(filed: Filed) -> Path:
    """Writes the report's other files beside the data, which stays as it is; the path of the readable one."""
    samples, facts = read(filed.data)
    return report.write_told(samples, facts, filed.path.with_suffix(""))


def read(data: dict) -> tuple[Samples, Facts]:
    """What was measured, and what is known of the run."""
    if data["kind"] != "competition":
        raise NotACompetition(f"this is a result of {data['kind']}, not of the competition")
    details = data["details"]
    facts = Facts(
        command=data["command"],
        machine=data["machine"],
        smoke=data["smoke"],
        entrants=[Entrant(**told, server=None, visits={}) for told in details["entrants"]],
        missing=data["missing"],
        settings_changed={name: tuple(values) for name, values in data["settings_changed"].items()},
        test_seconds=details["test_seconds"],
        date=data["date"],
    )
    return _samples(data["measurements"], data["faults"]), facts


def _samples(measurements: Iterable[dict], faults: list[str]) -> Samples:
    samples = Samples(faults=list(faults))
    for one in measurements:
        samples.by_scenario[one["scenario"]][one["subject"]][one["name"]] = list(one["repeats"])
    return samples
