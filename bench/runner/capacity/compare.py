"""Two results of the capacity benchmarks, each with its spread: what carries more, what less, what cannot be told."""

from dataclasses import dataclass

from runner.competition.markup import Table
from runner.report import number

# Without these being alike a figure has another meaning.
MEANING = ("unit", "scenario", "variables", "setup", "until", "cpu_limit")
# Of the machine, without which a ratio says nothing of the software.
MACHINE = ("cores", "model", "memory")


SPREAD = (
    "From the largest load that met the conditions to the one that failed. **More** and **less** are changes beyond that "
    "spread; ≥ means that the server was not the limit."
)


@dataclass(frozen=True)
class Change:
    """Of one configuration."""

    name: str
    before: dict | None
    after: dict | None

    @property
    def ratio(self) -> float | None:
        if self.verdict in ("new", "gone", "not comparable", "not measured"):
            return None
        return self.after["value"] / self.before["value"]

    @property
    def verdict(self) -> str:
        """An answer lies between the load that held and the one that failed: it has changed where these do not overlap."""
        if self.before is None or self.after is None:
            return "new" if self.before is None else "gone"
        if any(self.before.get(key) != self.after.get(key) for key in MEANING):
            return "not comparable"
        if not self.before.get("value") or not self.after.get("value"):
            return "not measured"
        if _is_beyond(self.after, self.before):
            return "**more**"
        if _is_beyond(self.before, self.after):
            return "**less**"
        return "within the spread"


def changes(before: dict, after: dict) -> list[Change]:
    """Of all configurations of either result, those of the newer one first."""
    old, new = _by_name(before), _by_name(after)
    return [Change(f"{key[0]}, {key[1]}", old.get(key), new.get(key)) for key in {**new, **old}]


def markdown(before: dict, after: dict) -> str:
    """To read."""
    old, new = before["version"]["throng"], after["version"]["throng"]
    lines = [f"# {old} and {new}", ""]
    lines += [f"- {result['version']['throng']}: {result['version']['commit']}, {result['date']}" for result in (before, after)]
    lines += [f"- **different machine**: {difference}" for difference in machine_differences(before, after)]
    lines += ["", SPREAD, ""]
    table = Table(["configuration", old, new, "ratio", ""], words=1)
    for change in changes(before, after):
        ratio = "" if change.ratio is None else f"{change.ratio:.2f}"
        table.rows.append([change.name, _answer(change.before), _answer(change.after), ratio, change.verdict])
    return "\n".join([*lines, *table.markdown()]) + "\n"


def machine_differences(before: dict, after: dict) -> list[str]:
    """What makes the two machines different ones."""
    pairs = ((key, before["machine"].get(key), after["machine"].get(key)) for key in MACHINE)
    return [f"{key}: {old}, then {new}" for key, old, new in pairs if old != new]


def _is_beyond(one: dict, other: dict) -> bool:
    """Whether the first held what the other could not."""
    return other["greatest"] is not None and one["least"] >= other["greatest"]


def _by_name(result: dict) -> dict[tuple[str, str], dict]:
    return {(one["group"], one["name"]): one for one in result["details"]["answers"]}


def _answer(one: dict | None) -> str:
    if one is None or one.get("value") is None:
        return ""
    beyond = f" – {number(one['greatest'])}" if one["greatest"] is not None else ""
    return f"{'≥ ' * one['at_least']}{number(one['value'])}{beyond}"
