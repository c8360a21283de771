"""The scenarios that are shipped are what their published schema says."""

import unittest
from pathlib import Path

from runner import form

ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMA = ROOT / "docs" / "scenario.schema.json"


class Scenarios(unittest.TestCase):
    def test_every_ready_scenario_keeps_the_schema(self) -> None:
        import yaml  # python3-yaml, of `make deps`

        paths = sorted((ROOT / "bench" / "scenarios").rglob("*.yaml"))
        self.assertGreaterEqual(len(paths), 10)
        for path in paths:
            with self.subTest(scenario=path.name):
                self.assertEqual(form.complaints(yaml.safe_load(path.read_text()), SCHEMA), [])

    def test_a_step_that_is_none_is_refused(self) -> None:
        scenario = {"name": "a", "target": "ws://127.0.0.1:1", "phases": [{"burst": 1}]}
        scenario["sessions"] = [{"name": "b", "steps": ["dance"]}]
        self.assertNotEqual(form.complaints(scenario, SCHEMA), [])
        scenario["sessions"][0]["steps"] = ["connect", "stay"]
        self.assertEqual(form.complaints(scenario, SCHEMA), [])


if __name__ == "__main__":
    unittest.main()
