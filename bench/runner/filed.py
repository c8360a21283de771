"""The results that are kept in `results/`: which there are, and the newest that has a figure."""

import json
from dataclasses import dataclass
from pathlib import Path

from runner.samples import Spread

FOLDER = Path(__file__).resolve().parents[1] / "results"
SCHEMA = FOLDER / "schema.json"

# What Stampede leaves beside a record; its form is docs/summary.schema.json.
STAMPEDES_OWN = "summary.json"


@dataclass(frozen=True)
class Filed:
    """A result file."""

    path: Path
    data: dict

    @property
    def page(self) -> Path:
        """The same for people."""
        return self.path.with_suffix(".md")

    def measurement(self, scenario: str, subject: str, name: str) -> dict | None:
        wanted = (scenario, subject, name)
        return next(
            (one for one in self.data["measurements"] if (one["scenario"], one["subject"], one["name"]) == wanted), None
        )

    def ratio(self, scenario: str, subject: str, base: str, name: str) -> Spread | None:
        """Of `subject` to `base`, within each repeat."""
        mine, other = self.measurement(scenario, subject, name), self.measurement(scenario, base, name)
        if mine is None or other is None:
            return None
        ratios = [value / by for value, by in zip(mine["repeats"], other["repeats"]) if by]
        return Spread.of(ratios) if ratios else None


def paths(folder: Path = FOLDER) -> list[Path]:
    """Every result file, in no order."""
    return [path for path in folder.rglob("*.json") if path.name not in (SCHEMA.name, STAMPEDES_OWN)]


def read(folder: Path = FOLDER) -> list[Filed]:
    """All of them, the newest first; small forms, whose figures mean nothing, are not among them."""
    found = [Filed(path, json.loads(path.read_text())) for path in paths(folder)]
    whole = [one for one in found if not one.data["smoke"]]
    return sorted(whole, key=lambda one: (one.data["date"], one.path.name), reverse=True)


def newest(filed: list[Filed], kind: str, scenario: str, subject: str, name: str) -> Filed | None:
    """The newest of a kind that has the figure."""
    return next(
        (one for one in filed if one.data["kind"] == kind and one.measurement(scenario, subject, name)), None
    )
