"""Prometheus, with the files that we ship, scrapes replicas under load: whatever dashboards and rules ask has an
answer."""

import math
import re
import tempfile
import time
import unittest
from contextlib import ExitStack
from pathlib import Path

import dashboards
from harness.programs import wait_until
from watched import Watched, watched

# Metrics that the kernel has only where a module or an option is there, and how to see that it is.
OF_SOME_KERNELS = {
    "node_nf_conntrack_": "/proc/sys/net/netfilter/nf_conntrack_count",
    "node_pressure_": "/proc/pressure/cpu",
}
# A rate wants two scrapes, a rule over it one evaluation more.
ANSWER_SECONDS_MAX = 60
POLL_SECONDS = 0.1


class Watching(unittest.TestCase):
    """All ask the same Prometheus."""

    watched: Watched

    @classmethod
    def setUpClass(cls) -> None:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="throng-deploy-")))
            cls.watched = stack.enter_context(watched(folder))
            cls.addClassCleanup(stack.pop_all().close)

    def test_every_replica_is_a_target_by_file_or_by_name(self) -> None:
        found = {series["metric"]["instance"] for series in self.watched.query('up{job="throng"} == 1')}
        self.assertEqual(found, set(self.watched.replicas))
        if not self.watched.by_name:
            self.skipTest("only root may have a name server: both replicas were found by file")

    def test_every_query_of_every_dashboard_returns_data(self) -> None:
        for path in dashboards.DASHBOARDS:
            self.assert_all_answered(list(dashboards.queries(path)))

    def test_every_recording_rule_has_a_value(self) -> None:
        rules = [rule for rule in self.watched.rules() if rule["type"] == "recording"]
        self.assertTrue(rules)
        self.assert_all_answered([dashboards.Query("rule", rule["name"]) for rule in rules])

    def test_every_rule_is_evaluated_without_an_error(self) -> None:
        wait_until("every rule was evaluated", self.every_rule_was_evaluated)
        for rule in self.watched.rules():
            with self.subTest(rule=rule["name"]):
                self.assertEqual((rule["health"], rule.get("lastError", "")), ("ok", ""))

    def every_rule_was_evaluated(self) -> bool:
        return all(rule["health"] != "unknown" for rule in self.watched.rules())

    def test_no_alert_about_the_server_fires_while_all_is_well(self) -> None:
        # Those about the machine may: it also compiles.
        alerts = [rule for rule in self.watched.rules() if rule["name"].startswith("Throng")]
        self.assertTrue(alerts)
        self.assertEqual([rule["name"] for rule in alerts if rule["state"] == "firing"], [])

    def test_every_metric_that_an_alert_asks_for_is_there(self) -> None:
        alerts = [rule for rule in self.watched.rules() if rule["type"] == "alerting"]
        self.assertTrue(alerts)
        names = {name for alert in alerts for name in metrics_of(alert["query"])}
        self.assert_all_answered([dashboards.Query("alert", name) for name in sorted(names)])

    def test_every_reason_that_a_rule_names_is_one_that_the_server_knows(self) -> None:
        known = {series["metric"]["reason"] for series in self.watched.query("throng_rejected_total")}
        for rule in self.watched.rules():
            for reasons in re.findall(r'throng_rejected_total\{reason!?[=~]+"([^"]*)"', rule["query"]):
                self.assertLessEqual(set(reasons.split("|")), known, rule["name"])

    def assert_all_answered(self, queries: list[dashboards.Query]) -> None:
        """Asks until all have answered, or says which have not."""
        self.assertTrue(queries)
        queries = [query for query in queries if not of_another_kernel(query.expression)]
        deadline = time.monotonic() + ANSWER_SECONDS_MAX
        while unanswered := [query for query in queries if not has_number(self.watched.query(query.expression))]:
            if time.monotonic() > deadline:
                self.fail("no data:\n" + "\n".join(f"{query.place}: {query.expression}" for query in unanswered))
            time.sleep(POLL_SECONDS)


def has_number(answer: list[dict]) -> bool:
    """Whether there is a value that can be drawn; 0/0 is none."""
    return any(not math.isnan(float(series["value"][1])) for series in answer)


def of_another_kernel(expression: str) -> bool:
    """Whether this machine's kernel cannot have the metric."""
    return any(name in expression and not Path(path).exists() for name, path in OF_SOME_KERNELS.items())


def metrics_of(expression: str) -> set[str]:
    """The names of metrics in an expression; recorded ones, with colons, are asked for elsewhere."""
    return set(re.findall(r"(?<![\w:])(?:(?:throng|node|process)_\w+|up)(?![\w:])", expression))


if __name__ == "__main__":
    unittest.main()
