"""`bench/budgets.toml`, as read and as written anew.

A table for each group, which says where its figures come from; in it a table for each budget.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

REPEATABLE = ("bytes", "allocations", "instructions")
GROUPS = (*REPEATABLE, "measured")

_GROUP_KEYS = {"where": str, "tolerance_percent": (int, float), "counted_with": str}
_BUDGET_KEYS = {"unit": str, "at_most": (int, float), "at_least": (int, float), "why": str}
_BUDGET_KEYS |= {"tolerance_percent": (int, float)}


class BadBook(Exception):
    """The file is not one of budgets; says where and why."""


@dataclass(frozen=True)
class Budget:
    """A bound on one figure: at most, or at least."""

    group: str
    name: str
    unit: str
    bound: float
    is_ceiling: bool
    tolerance_percent: float
    why: str

    @property
    def noise(self) -> float:
        """How far a figure may lie from the bound and still be the same, in its unit."""
        return self.bound * self.tolerance_percent / 100

    @property
    def relation(self) -> str:
        return "≤" if self.is_ceiling else "≥"


@dataclass(frozen=True)
class Book:
    """All budgets, in the order of the file."""

    budgets: list[Budget]
    # With what instructions were counted: other compilers and libraries count others.
    counted_with: str

    def of(self, groups: tuple[str, ...]) -> list[Budget]:
        return [budget for budget in self.budgets if budget.group in groups]


def read(text: str) -> Book:
    """Everything is checked; a typing error is no budget that nobody keeps."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadBook(str(error)) from error
    if unknown := tables.keys() - set(GROUPS):
        raise BadBook(f"unknown group {', '.join(sorted(unknown))}; known groups: {', '.join(GROUPS)}")
    budgets = []
    for group, table in tables.items():
        settings = {key: value for key, value in table.items() if not isinstance(value, dict)}
        _check(group, settings, _GROUP_KEYS, required={"where", "tolerance_percent"})
        budgets += [_budget(group, settings, name, entry) for name, entry in table.items() if isinstance(entry, dict)]
    return Book(budgets, tables.get("instructions", {}).get("counted_with", ""))


def _budget(group: str, settings: dict, name: str, entry: dict) -> Budget:
    where = f"{group}.{name}"
    _check(where, entry, _BUDGET_KEYS, required={"unit", "why"})
    if ("at_most" in entry) == ("at_least" in entry):
        raise BadBook(f"{where} needs one of at_most and at_least")
    is_ceiling = "at_most" in entry
    bound = entry["at_most" if is_ceiling else "at_least"]
    tolerance = entry.get("tolerance_percent", settings["tolerance_percent"])
    if bound < 0 or tolerance < 0:
        raise BadBook(f"{where}: bound and tolerance must not be negative")
    return Budget(group, name, entry["unit"], bound, is_ceiling, tolerance, entry["why"])


def _check(where: str, entry: dict, keys: dict, required: set[str]) -> None:
    if missing := required - entry.keys():
        raise BadBook(f"{where} lacks {', '.join(sorted(missing))}")
    for key, value in entry.items():
        if key not in keys:
            raise BadBook(f"{where} has the unknown key {key}; known are {', '.join(keys)}")
        if not isinstance(value, keys[key]) or isinstance(value, bool):
            raise BadBook(f"{where}: {key} has the wrong type")


def rebound(text: str, bounds: dict[str, float], counted_with: str | None = None) -> str:
    """The file with other bounds, by the budgets' names, and with everything else as it was."""
    lines, table = text.splitlines(keepends=True), ""
    for at, line in enumerate(lines):
        if header := re.fullmatch(r"\[([\w.]+)\]\s*(#.*)?", line.strip()):
            table = header[1]
        name = table.rpartition(".")[2]
        if name in bounds and re.match(r"(at_most|at_least) = ", line):
            lines[at] = re.sub(r"= [\d._]+", f"= {written(bounds[name])}", line)
        elif table == "instructions" and counted_with is not None and line.startswith("counted_with = "):
            lines[at] = f'counted_with = "{counted_with}"\n'
    return "".join(lines)


def written(figure: float) -> str:
    """As many digits as count: whole from a hundred on, else thousandths."""
    if figure >= 100 or figure == int(figure):
        return f"{figure:.0f}"
    return f"{figure:.3f}".rstrip("0")


def load(path: Path) -> Book:
    try:
        return read(path.read_text())
    except BadBook as error:
        raise BadBook(f"{path}: {error}") from error
