"""Grafana's dashboards as files: their panels and the queries of these, with Grafana's variables filled in."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from programs import DEPLOY

DASHBOARDS = sorted((DEPLOY / "grafana" / "dashboards").glob("*.json"))
# What Grafana would put there: every instance, and at least four scrapes.
VARIABLES = {"$instance": ".*", "$__rate_interval": "10s"}


@dataclass(frozen=True)
class Query:
    """One query of one panel."""

    place: str
    expression: str


def read(path: Path) -> dict:
    """The dashboard's model."""
    return json.loads(path.read_text())


def panels(dashboard: dict) -> list[dict]:
    """All panels but the rows that head them."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def queries(path: Path) -> Iterator[Query]:
    """Every query of a dashboard, ready to be asked."""
    for panel in panels(read(path)):
        for target in panel["targets"]:
            yield Query(f"{path.name}, {panel['title']}, {target['refId']}", filled_in(target["expr"]))


def filled_in(expression: str) -> str:
    """The expression as Grafana sends it."""
    for name, value in VARIABLES.items():
        expression = re.sub(re.escape(name) + r"\b", value, expression)
    assert "$" not in expression, f"a variable that the test does not know: {expression}"
    return expression
