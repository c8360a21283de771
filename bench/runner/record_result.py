"""A record as a result file."""

from runner import results
from runner.record_report import CROWD, PAIR, Judged, number

# Of the figures: what is told in another place of the file.
_ELSEWHERE = ("pair", "verdicts", "growth_ended_by")


def document(data: dict, judged: list[Judged], smoke: bool) -> dict:
    """All of a record's figures. Those of a run that Stampede calls INVALID are marked so."""
    found, verdicts = data["record"], data["record"]["verdicts"]
    crowd = {name: value for name, value in found.items() if name not in _ELSEWHERE}
    measurements = _measurements(CROWD, "throng", crowd, verdicts[CROWD]["valid"])
    for when, latency in found["pair"].items():
        measurements += _measurements(f"{PAIR}, {when}", "throng", latency or {}, verdicts[PAIR]["valid"])
    for name, subject in (("floor", "floor"), ("bare", "throng")):
        measurements += _measurements("the crowd with the bare client", subject, data[name] or {}, valid=True)
    return results.document(
        "record",
        date=data["date"],
        command=data["command"],
        machine=data["machine"],
        settings_changed=data["settings"],
        missing={} if data["floor"] else {"floor": "not requested"},
        smoke=smoke,
        measurements=measurements,
        targets=[_target(one) for one in judged],
        verdicts=[results.verdict(run, said) for run, said in verdicts.items()],
        faults=data["faults"],
        details={"growth_ended_by": found["growth_ended_by"], "joins": data["joins"]},
    )


def _measurements(scenario: str, subject: str, figures: dict, valid: bool) -> list[dict]:
    return [results.measurement(scenario, subject, name, values, valid) for name, values in flat(figures).items()]


def flat(figures: dict, before: str = "") -> dict[str, list[float]]:
    """Numbers by name; of numbers within a figure the names follow one another, and words are no figures."""
    found: dict[str, list[float]] = {}
    for key, value in figures.items():
        name = f"{before}{key}"
        if isinstance(value, dict):
            found |= flat(value, f"{name}_")
        elif isinstance(value, list) and value and all(isinstance(part, int | float) for part in value):
            found[name] = value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = [value]
    return found


def _target(judged: Judged) -> dict:
    sign = "≤" if judged.at_most else "≥"
    name = f"{judged.name} {sign} {number(judged.bound)} {judged.unit}".strip()
    verdict = "not measured" if judged.value is None else "reached" if judged.holds else "missed"
    return results.target(name, judged.value, verdict)
