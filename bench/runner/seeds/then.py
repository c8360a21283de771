"""What the documents published, with where it stands, beside what was measured: `seeds-published.json`."""

import json
from collections.abc import Callable
from pathlib import Path

from runner.competition.markup import Table
from runner.report import number

PUBLISHED = Path(__file__).resolve().parents[2] / "seeds-published.json"

NOTHING = "not measured"
INVALID = "†"

# A measurement by scenario and name, if there is one.
Find = Callable[[str, str], dict | None]


def published() -> dict:
    return json.loads(PUBLISHED.read_text())


def tables(seeds: list[str], find: Find) -> dict[str, Table]:
    """Of each of the seeds: its published figures beside ours."""
    return {seed: _table(told["figures"], find) for seed, told in published().items() if seed in seeds}


def _table(figures: list[dict], find: Find) -> Table:
    table = Table(["what", "then", "now", "source"], words=4)
    for figure in figures:
        table.rows.append([figure["what"], figure["then"], _now(figure["now"], find), figure["where"]])
    return table


def _now(now: dict, find: Find) -> str:
    """The words with their figures; those of a run that Stampede calls INVALID are marked."""
    found = [find(scenario, name) for scenario, name in now["figures"]]
    if not any(found):
        return NOTHING
    told = ["–" if one is None else number(one["median"]) for one in found]
    mark = "" if all(one["valid"] for one in found if one) else f" {INVALID}"
    return now["text"].format(*told) + mark
