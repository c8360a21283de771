"""Prometheus's own checker reads our files; each alert is shown to fire and to be quiet, and people are told what to do
about it."""

import re
import unittest

import documents
from harness.programs import ROOT, find
from programs import DEPLOY, run

PROMETHEUS = DEPLOY / "prometheus"
RULES = sorted((PROMETHEUS / "rules").glob("*.yml"))
TESTS = sorted((PROMETHEUS / "tests").glob("*.test.yml"))


class Rules(unittest.TestCase):
    def test_promtool_has_nothing_to_say_about_the_configuration_and_the_rules(self) -> None:
        status, said = run(find("promtool"), "check", "config", PROMETHEUS / "prometheus.yml")
        self.assertEqual(status, 0, said)
        status, said = run(find("promtool"), "check", "rules", "--lint-fatal", *RULES)
        self.assertEqual(status, 0, said)

    def test_the_tests_of_the_rules_pass(self) -> None:
        self.assertTrue(TESTS)
        status, said = run(find("promtool"), "test", "rules", *TESTS)
        self.assertEqual(status, 0, said)

    def test_each_alert_is_shown_to_fire_and_to_be_quiet(self) -> None:
        fires, quiet = set(), set()
        for path in TESTS:
            for case in documents.one(path)["tests"]:
                for asked in case["alert_rule_test"]:
                    (fires if asked["exp_alerts"] else quiet).add(asked["alertname"])
        self.assertEqual(fires, set(alerts()))
        self.assertEqual(quiet, set(alerts()))

    def test_each_alert_has_a_severity_and_a_line_in_the_runbook(self) -> None:
        runbook = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
        for name, rule in alerts().items():
            self.assertIn(rule["labels"]["severity"], {"critical", "warning"}, name)
        told = {name for name in runbook if name.startswith(("Throng", "Host"))}
        self.assertEqual(told, set(alerts()))


def alerts() -> dict[str, dict]:
    """All of them by name."""
    rules = [rule for path in RULES for group in documents.one(path)["groups"] for rule in group["rules"]]
    return {rule["alert"]: rule for rule in rules if "alert" in rule}


if __name__ == "__main__":
    unittest.main()
