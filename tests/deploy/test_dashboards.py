"""What Grafana would not complain about and people would: Grafana itself is not among the tests' programs."""

import itertools
import json
import unittest

import dashboards
import documents
from programs import DEPLOY

GRAFANA = DEPLOY / "grafana"
COLUMNS = 24
DATA_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Dashboards(unittest.TestCase):
    def test_each_has_an_identity_of_its_own_and_links_to_ones_that_exist(self) -> None:
        models = [dashboards.read(path) for path in dashboards.DASHBOARDS]
        uids = [model["uid"] for model in models]
        self.assertEqual(len(set(uids)), len(uids))
        for model in models:
            for link in model["links"]:
                self.assertIn(link["url"], {f"/d/{uid}" for uid in uids})

    def test_each_panel_says_what_it_shows_and_in_which_unit(self) -> None:
        for path in dashboards.DASHBOARDS:
            for panel in dashboards.panels(dashboards.read(path)):
                with self.subTest(dashboard=path.name, panel=panel["title"]):
                    self.assertTrue(panel["description"].endswith("."))
                    self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
                    self.assertEqual(panel["datasource"], DATA_SOURCE)
                    self.assertTrue(all(target["datasource"] == DATA_SOURCE for target in panel["targets"]))

    def test_each_query_asks_only_for_the_replicas_that_are_chosen(self) -> None:
        for path in dashboards.DASHBOARDS:
            for panel in dashboards.panels(dashboards.read(path)):
                for target in panel["targets"]:
                    selectors = target["expr"].count("{")
                    self.assertEqual(target["expr"].count('instance=~"$instance"'), selectors, target["expr"])

    def test_no_panel_covers_another(self) -> None:
        for path in dashboards.DASHBOARDS:
            panels = dashboards.read(path)["panels"]
            self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
            for one, other in itertools.combinations(panels, 2):
                self.assertFalse(overlap(one["gridPos"], other["gridPos"]), (path.name, one["title"], other["title"]))
            for panel in panels:
                self.assertLessEqual(panel["gridPos"]["x"] + panel["gridPos"]["w"], COLUMNS)

    def test_a_dashboard_is_written_as_it_would_be_written_again(self) -> None:
        for path in dashboards.DASHBOARDS:
            again = json.dumps(dashboards.read(path), indent=2, ensure_ascii=False) + "\n"
            self.assertEqual(path.read_text(), again, path.name)

    def test_the_provisioned_folder_is_where_compose_puts_the_dashboards(self) -> None:
        (provider,) = documents.one(GRAFANA / "provisioning" / "dashboards" / "throng.yml")["providers"]
        volumes = documents.one(DEPLOY / "docker" / "compose.yaml")["services"]["grafana"]["volumes"]
        self.assertIn(f"../grafana/dashboards:{provider['options']['path']}:ro", volumes)


def overlap(one: dict, other: dict) -> bool:
    """Whether two places of the grid share a cell."""
    across = one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"]
    down = one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"]
    return across and down


if __name__ == "__main__":
    unittest.main()
