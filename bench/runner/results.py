"""The form of the result files, whatever was measured: `results/schema.json` describes it. Every writer builds its file
here, so that one program can read them all."""

import json
import re

from runner import version
from runner.samples import Samples, Spread

FORMAT = 1

# Units stand in the names of figures; the first of these that a name has is its unit.
UNITS = (
    (r"of_whole|_ratio$", "ratio"),
    (r"percent", "%"),
    (r"per_(cpu_)?second", "1/s"),
    (r"bytes|^rss_part_", "bytes"),
    (r"(^|_)us(_|$)", "µs"),
    (r"(^|_)ms(_|$)", "ms"),
    (r"(^|_)(s|seconds)(_|$)", "s"),
    (r"(^|_)cores(_|$)", "cores"),
)
COUNT = "count"


def unit_of(name: str) -> str:
    """Of a figure, by its name: `server_cpu_us_per_echo` is in µs. What names no unit is a count."""
    return next((unit for pattern, unit in UNITS if re.search(pattern, name)), COUNT)


def measurement(scenario: str, subject: str, name: str, repeats: list[float], valid: bool = True) -> dict:
    """A figure with its unit and its spread; not `valid` if Stampede says that the generator shaped it."""
    spread = Spread.of(repeats)
    return {
        "scenario": scenario,
        "subject": subject,
        "name": name,
        "unit": unit_of(name),
        "repeats": repeats,
        "median": spread.median,
        "least": spread.least,
        "greatest": spread.greatest,
        "valid": valid,
    }


def of_samples(samples: Samples) -> list[dict]:
    """Everything that was measured. A test that says of itself how many of its runs were invalid is believed."""
    return [
        measurement(scenario, subject, name, values, valid=not any(by_name.get("invalid_runs", ())))
        for scenario, by_subject in samples.by_scenario.items()
        for subject, by_name in by_subject.items()
        for name, values in by_name.items()
    ]


def target(name: str, measured: float | None, verdict: str) -> dict:
    """A target: `reached`, `missed` or `not measured`."""
    return {"name": name, "measured": measured, "verdict": verdict}


def verdict(run: str, said: dict) -> dict:
    """What Stampede says of one of its runs."""
    return {"run": run, "valid": said["valid"], "reasons": said["reasons"]}


def document(
    kind: str,
    *,
    date: str,
    command: str,
    machine: dict[str, str],
    settings_changed: dict[str, tuple[int, int]],
    missing: dict[str, str],
    smoke: bool,
    measurements: list[dict],
    targets: list[dict] = (),
    verdicts: list[dict] = (),
    faults: list[str] = (),
    details: dict | None = None,
) -> dict:
    """A whole result file. `details` is what only this kind has to say."""
    return {
        "format": FORMAT,
        "kind": kind,
        "date": date,
        "command": command,
        "version": version.facts(),
        "machine": machine,
        "settings_changed": {name: list(values) for name, values in settings_changed.items()},
        "missing": missing,
        "smoke": smoke,
        "measurements": measurements,
        "targets": list(targets),
        "verdicts": list(verdicts),
        "faults": list(faults),
        "details": details or {},
    }


def text_of(data: dict) -> str:
    """A result file's text. What JSON has no word for, such as an infinite number, is an error here and not later."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
