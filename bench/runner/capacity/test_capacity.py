"""python3 -m unittest discover -s bench -t bench"""

import dataclasses
import json
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from xml.etree import ElementTree

from runner import cgroup
from runner.capacity import pictures, plan, report, search
from runner.capacity.plan import Configuration, Group, Search, Setup
from runner.capacity.report import Facts
from runner.capacity.run import ENDED, Order, complaint_about, search_all
from runner.capacity.search import Found, Outcome, Rules, Run


class PlanTest(unittest.TestCase):
    def test_all_searches_end_within_three_quarters_of_an_hour(self):
        self.assertLessEqual(plan.seconds_max(plan.plan([], smoke=False), Rules().within_s), 45 * 60)

    def test_a_search_that_several_groups_have_is_made_once(self):
        groups = plan.plan([], smoke=False)
        configurations = [c for group in groups for c in group.configurations]
        self.assertLess(len(plan.searches(groups)), len(configurations))
        self.assertEqual({c.search for c in configurations}, set(plan.searches(groups)))

    def test_every_search_finds_its_scenario_and_sets_variables_that_it_has(self):
        for one in plan.searches(plan.plan([], smoke=False)):
            text = (search.SCENARIOS / one.scenario).read_text()
            head = text[text.index("\nvariables:") : text.index("\ntarget:")]
            for name in ("target", one.vary, *(name for name, _ in one.variables)):
                self.assertIn(f"\n  {name}:", head, f"{one.scenario} has no {name}")

    def test_a_search_begins_below_the_most(self):
        for one in plan.searches(plan.plan([], smoke=False)):
            self.assertLess(one.begin, one.most, one)

    def test_a_smoke_run_plays_one_small_load_of_each_scenario_of_each_group(self):
        full, small = plan.plan([], smoke=False), plan.plan([], smoke=True)
        self.assertEqual([group.name for group in small], [group.name for group in full])
        for large, group in zip(full, small):
            scenarios = lambda group: {c.search.scenario for c in group.configurations}  # noqa: E731
            self.assertEqual(scenarios(group), scenarios(large))
            for configuration in group.configurations:
                self.assertEqual(configuration.search.begin, configuration.search.most)
                self.assertLessEqual(configuration.search.begin, 50)

    def test_a_smoke_run_has_every_setup_of_the_server(self):
        setups = lambda smoke: {one.setup for one in plan.searches(plan.plan([], smoke))}  # noqa: E731
        self.assertLessEqual({s for s in setups(False) if s.tls or s.compression or s.shards > 1}, setups(True))

    def test_groups_are_chosen_by_name(self):
        self.assertEqual([group.name for group in plan.plan(["tls", "sizes"], smoke=False)], ["sizes", "tls"])

    def test_what_people_say_fills_a_message_of_512_bytes_with_its_stamp(self):
        self.assertGreaterEqual(len(plan.PROSE), 464)


class SearchTest(unittest.TestCase):
    def test_the_command_asks_for_each_condition_and_each_variable(self):
        one = Search("a.yaml", (("size", "16"),), 3, 30, "users", ("p99 < 1s", "lost == 0"), Setup(tls=True))
        command = search.command_of(one, Path("stampede"), Rules(), "wss://h:1", 7, Path("out"))
        self.assertEqual([command[i + 1] for i, part in enumerate(command) if part == "--until"], list(one.until))
        self.assertEqual(
            [command[i + 1] for i, part in enumerate(command) if part == "--set"], ["target=wss://h:1", "size=16"]
        )
        self.assertIn("--insecure", command)

    def test_a_server_with_less_of_a_core_is_given_less_to_begin_with(self):
        one = Search("a.yaml", (("seconds", "8"),), 40, 1000)
        self.assertEqual([Rules(cpu_limit=share).begin_of(one) for share in (None, 0.4, 0.001)], [40, 16, 1])

    def test_what_cannot_be_limited_is_said_before_anything_is_played(self):
        here = Path(__file__)
        order = Order([], False, 2, 70, 0.4, here, here)
        with unittest.mock.patch.object(cgroup, "hierarchy", return_value=None):
            complaint = complaint_about(order)
            self.assertEqual(complaint, "--cpu-limit: no cgroup hierarchy is mounted; only root may, on a kernel with control groups")
            self.assertIsNone(complaint_about(dataclasses.replace(order, cpu_limit=None)))

    def test_a_run_is_read_from_its_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            run = Run.of_step({"load": 5, "outcome": "held", "folder": str(left_by_a_run(Path(folder)))})
        self.assertEqual(run.latency_ms["p99"], 9.0)
        self.assertEqual(run.counts["delivered"], 100)
        self.assertEqual(run.server_cores, 0.9)

    def test_where_nothing_held_it_begins_again_lower_within_the_same_time(self):
        one, rules, nowhere = Search("a.yaml", (("seconds", "8"),), 40, 1000), Rules(within_s=70), Path("nowhere")
        nothing, little = answer(None, None, 40, "generator"), answer(6, 7, None, "server")
        with unittest.mock.patch.object(search, "_play_from", side_effect=[nothing, little]) as play:
            found = search.play(one, nowhere, nowhere, rules, nowhere)
        self.assertEqual([call.args[0] for call in play.call_args_list], [40, 5])
        self.assertLess(play.call_args.args[4].within_s, 70)
        self.assertEqual((found.held, [run.load for run in found.runs]), (6, [40, 6, 7]))
        for held, begin in ((answer(40, 44, None, "server"), 40), (nothing, 1)):
            with unittest.mock.patch.object(search, "_play_from", side_effect=[held]):
                once = dataclasses.replace(one, begin=begin)
                self.assertEqual(search.play(once, nowhere, nowhere, rules, nowhere), held)

    def test_what_was_found_is_kept_after_each_search_and_the_others_say_that_they_were_not_made(self):
        searches = [Search("a.yaml", (("seconds", "8"),), 10, 1000), Search("b.yaml", (("seconds", "8"),), 10, 1000)]
        kinds = tuple(Configuration(one.scenario, one) for one in searches)
        groups = [Group("group", "A group", "rooms", "deliveries per second", kinds)]
        order = Order([], False, 2, 70, None, Path("throng"), Path("stampede"))
        facts = Facts("bench/capacity", {"cores": "2"}, {}, False, {}, Rules())
        seen = []
        with tempfile.TemporaryDirectory() as name, unittest.mock.patch.object(search, "play") as play:
            play.return_value = answer(100, 110, None, "server")
            (Path(name) / "runs").mkdir()

            def keep(so_far: dict[Search, Outcome]) -> None:
                readable = report.write_figures(groups, so_far, facts, {}, Path(name) / "kept")
                data = json.loads(readable.with_suffix(".json").read_text())
                seen.append((len(data["measurements"]), data["faults"]))

            search_all(groups, order, Path(name) / "runs", keep)
        self.assertEqual(seen, [(1, [f"b.yaml: {ENDED}"]), (2, [])])

    def test_an_answer_below_which_only_the_generator_gave_up_is_at_least(self):
        table = [
            (answer(10, 12, None, "server"), False),
            (answer(10, 12, 11, "generator"), True),
            (answer(10, 12, 20, "server"), False),
            (answer(10, None, None, "range"), True),
            (answer(10, None, None, "time"), True),
            (answer(10, 12, None, "time"), False),
        ]
        for found, expected in table:
            self.assertEqual(found.is_at_least, expected, found)


class ReportTest(unittest.TestCase):
    def test_what_the_generator_bounded_is_said_as_at_least(self):
        text = report.markdown(*reported(answer(100, None, 120, "generator")), {})
        self.assertIn("| ten | ≥ 100 | ≥ 10,000 |", text)
        self.assertIn("the generator was the limit at 120", text)
        self.assertIn("- ten, 120: The generator could not keep up.", text)

    def test_the_data_has_unit_spread_and_verdict(self):
        data = report.data(*reported(answer(100, 110, None, "server")))
        one = data["details"]["answers"][0]
        self.assertEqual(data["measurements"][0]["greatest"], 110)
        self.assertEqual((one["value"], one["least"], one["greatest"]), (100, 100, 110))
        self.assertEqual((one["unit"], one["verdict"]), ("rooms", "110 does not hold"))
        self.assertTrue(json.dumps(data))

    def test_an_answer_has_the_limit_that_the_server_had(self):
        groups, outcomes, facts = reported(answer(100, 110, None, "server"))
        facts = dataclasses.replace(facts, rules=Rules(cpu_limit=0.4))
        self.assertEqual(report.data(groups, outcomes, facts)["details"]["answers"][0]["cpu_limit"], 0.4)
        self.assertIn("leaves the server 0.4 of a core's time", report.markdown(groups, outcomes, facts, {}))

    def test_a_search_that_could_not_be_made_is_a_fault(self):
        groups, outcomes, facts = reported(None)
        self.assertEqual(report.faults(outcomes, smoke=False), ["a.yaml: stampede ended with 2 without an answer"])
        self.assertIn("stampede ended with 2", report.markdown(groups, outcomes, facts, {}))
        self.assertIsNone(report.data(groups, outcomes, facts)["details"]["answers"][0]["value"])

    def test_a_smoke_run_judges_counts_and_no_other_does(self):
        lossy = run(5, "failed", counts={"lost": 2, "errors": 0, "sent": 10, "delivered": 8})
        outcomes = reported(Found(None, 5, "nothing_held", None, 0, 1, [lossy]))[1]
        self.assertEqual(report.faults(outcomes, smoke=True), ["a.yaml (1 shard): 2 lost"])
        self.assertEqual(report.faults(outcomes, smoke=False), [])

    def test_a_smoke_run_in_which_nobody_spoke_is_a_fault(self):
        silent = run(5, "held", counts={"lost": 0, "errors": 0, "sent": 0, "delivered": 0})
        outcomes = reported(Found(5, None, "range", None, 1, 0, [silent]))[1]
        self.assertEqual(len(report.faults(outcomes, smoke=True)), 2)

    def test_the_picture_has_a_bar_for_what_held(self):
        groups, outcomes, _ = reported(answer(100, 110, None, "server"))
        picture = pictures.capacities(groups[0], outcomes)
        ElementTree.fromstring(picture)
        self.assertIn('class="ours"', picture)
        groups, outcomes, _ = reported(None)
        self.assertNotIn("<rect", pictures.capacities(groups[0], outcomes))


def answer(held, failed, invalid, limit) -> Found:
    runs = [run(load, outcome) for load, outcome in ((held, "held"), (failed, "failed"), (invalid, "invalid")) if load]
    return Found(held, failed, limit, invalid, 2, 2, runs)


def run(load: int, outcome: str, counts: dict | None = None) -> Run:
    latency = {"mean": 1.0, "deviation": 0.5, "p50": 1.0, "p99": 9.0, "max": 20.0}
    reasons = ["The generator could not keep up."] if outcome == "invalid" else []
    return Run(load, outcome, Path("nowhere"), latency, counts or {"sent": 10, "delivered": 100}, 0.9, reasons)


def reported(found: Found | None) -> tuple[list[Group], dict[Search, Outcome], Facts]:
    one = Search("a.yaml", (("seconds", "8"),), 10, 1000)
    group = Group("group", "A group", "rooms", "deliveries per second", (Configuration("ten", one, per_load=100),))
    outcome = Outcome(found, None if found else "stampede ended with 2 without an answer")
    return [group], {one: outcome}, Facts("bench/capacity", {"cores": "2"}, {}, False, {}, Rules())


def left_by_a_run(folder: Path) -> Path:
    latency = {"count": 100, "mean_us": 1000, "stddev_us": 500, "p50_us": 1000, "p99_us": 9000, "max_us": 20_000}
    counts = {name: 0 for name in search.COUNTS} | {"sent": 10, "delivered": 100}
    verdict = {"valid": True, "reasons": []}
    summary = {"times": {"latency": latency}, "counts": counts, "verdict": verdict}
    (folder / "summary.json").write_text(json.dumps(summary))
    rows = ("0,pid 1 (throng),cpu,0.4", "1,pid 1 (throng),rss_bytes,7", "1,pid 1 (throng),cpu,0.9")
    (folder / "servers.csv").write_text("\n".join(["second,server,figure,value", *rows]) + "\n")
    return folder


if __name__ == "__main__":
    unittest.main()
