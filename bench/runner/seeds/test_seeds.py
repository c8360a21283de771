"""The seeds, played by nobody: what is planned, and what is made of made-up observations."""

import json
import string
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from runner.form import complaints
from runner import cgroup
from runner.seeds import chat, messenger, plan, replicas, report, road, then
from runner.seeds.play import Played, Run
from runner.servers import Running
from runner.watch import Row

NOBODY = Row(
    at_s=0.0, scrape_ms=1.0, connections=0, joined=0, messages_out=0, server_rss_bytes=1_000_000, server_cpu_s=0.0,
    generator_rss_bytes=0, generator_cpu_s=0.1, available_bytes=10_000_000, kernel_slab_bytes=0, socket_memory_bytes=0,
)  # fmt: skip


class PlanTest(unittest.TestCase):
    def test_each_seed_can_be_played_alone_and_together_they_are_all_runs(self):
        alone = [run.scenario for seed in plan.SEEDS for run in plan.plan([seed], 1, 0.1)]
        self.assertEqual(alone, [run.scenario for run in everything()])
        self.assertEqual(len(alone), len(set(alone)))

    def test_the_configurations_are_those_of_the_documents(self):
        names = [run.scenario for run in everything()]
        self.assertEqual(sum(name.startswith("road, ") for name in names), 9)
        self.assertEqual(sum(name.startswith("messenger, ") for name in names), 4)
        chats = [name for name in names if name.startswith("chat, ")]
        self.assertEqual(len(chats), 2 * (11 + 8 + 3 + 4 + 4))
        self.assertEqual(sum("two replicas" in name for name in chats), 2 * 4)

    def test_it_can_be_expected_to_end_within_its_time(self):
        self.assertLess(sum(run.seconds for run in everything()), 45 * 60)

    def test_the_small_form_has_a_hundredth_of_the_connections_and_a_run_of_each_kind(self):
        small = plan.plan(list(plan.SEEDS), 100, 0.1)
        self.assertEqual(max(run.stage.connections for run in small), 20_000)
        self.assertEqual([run.seed for run in small if run.seed == messenger.SEED], [messenger.SEED] * 4)
        ways = {(run.cores, run.replicas) for run in small if run.seed == chat.SEED}
        self.assertEqual(ways, {(None, False), (None, True), (0.1, False)})

    def test_what_is_chosen_by_a_scenarios_name_is_there(self):
        for run in everything():
            command = list(map(str, run.arguments(ADDRESS)))
            if command[0] == "run":
                self.assertTrue(Path(command[1]).exists(), command[1])


class PlayingTest(unittest.TestCase):
    def test_a_run_that_fails_is_a_fault_and_the_next_one_follows(self):
        first, second = everything()[:2]

        def player(run: Run) -> Played:
            if run is first:
                raise RuntimeError("it ended")
            return road_played(27_000)

        kept = plan.play_all([first, second], player, seconds=3600)
        self.assertEqual(kept.faults, [f"{first.scenario}: it ended"])
        self.assertEqual({one["scenario"] for one in kept.measurements}, {second.scenario})

    def test_what_the_machine_cannot_do_and_what_has_no_time_left_is_named_and_no_fault(self):
        def player(_run: Run) -> Played:
            raise cgroup.NoLimit("no cgroup hierarchy is mounted")

        def without_balancer(_run: Run) -> Played:
            raise replicas.Absent("no haproxy")

        kept = plan.play_all([everything()[0]], without_balancer, seconds=3600)
        self.assertEqual((list(kept.missing.values()), kept.faults), (["no haproxy"], []))
        limited = next(run for run in everything() if run.cores)
        kept = plan.play_all([limited], player, seconds=3600)
        self.assertEqual((list(kept.missing), kept.faults), ([limited.scenario], []))
        kept = plan.play_all([limited], player, seconds=1)
        self.assertIn("no time", kept.missing[limited.scenario])

    def test_what_was_measured_is_written_after_each_run_with_what_is_left(self):
        runs = everything()[:3]
        with tempfile.TemporaryDirectory() as folder:
            path, seen = Path(folder) / "results" / "any-seeds", []

            def hear(kept: report.Kept) -> None:
                report.write(kept, facts(), path)
                data = json.loads(path.with_suffix(".json").read_text())
                seen.append(({one["scenario"] for one in data["measurements"]}, set(data["missing"])))
                self.assertEqual(complaints(data), [])

            plan.play_all(runs, lambda _run: road_played(27_000), 3600, hear)
        first, second, third = (run.scenario for run in runs)
        self.assertEqual(seen, [({first}, {second, third}), ({first, second}, {third})])

    def test_an_invalid_run_is_kept_and_every_figure_of_it_says_so(self):
        kept = report.Kept([], [], [], {})
        run = everything()[0]
        plan.keep(run, road_played(1_000, valid=False), kept)
        self.assertEqual({one["valid"] for one in kept.measurements}, {False})
        self.assertEqual([one["valid"] for one in kept.verdicts], [False])
        self.assertIn("1,000 clients †", report.markdown(kept, facts()))


class RoadTest(unittest.TestCase):
    def test_memory_and_times_are_those_of_the_moment_at_which_all_had_joined(self):
        found = road.figures(1_000, 0, road_played(1_000))
        self.assertEqual(found["joined_at_once"], 1_000)
        self.assertEqual(found["server_rss_bytes_per_client"], 1_200)
        self.assertEqual(found["machine_bytes_per_client"], 4_000)
        self.assertEqual(found["join_seconds"], 1.5)

    def test_the_crash_counts_until_the_server_has_forgotten_them(self):
        found = road.figures(1_000, 600, road_played(1_000, crash=600))
        self.assertEqual((found["crashed"], found["crash_cleaned_up_s"]), (600, 1.0))

    def test_who_did_not_come_or_did_not_hear_is_a_fault(self):
        self.assertEqual(road.faults(1_000, 0, road_played(1_000)), [])
        self.assertEqual(len(road.faults(2_000, 0, road_played(1_000))), 2)
        deaf = road_played(1_000)
        deaf.counts["lost"], deaf.counts["delivered"] = 1, 999
        self.assertEqual(len(road.faults(1_000, 0, deaf)), 2)

    def test_after_a_crash_only_those_who_are_left_hear(self):
        played = road_played(1_000, crash=600)
        played.counts["delivered"] = 1_400
        self.assertEqual(road.faults(1_000, 600, played), [])


class MessengerTest(unittest.TestCase):
    def test_bytes_each_are_what_the_server_grew_by(self):
        played = played_with([NOBODY, here(1, 100), here(2, 100, server_rss_bytes=1_480_000)])
        played.counts["sent"] = 5
        found = messenger.crowd_figures(100, played)
        self.assertEqual(found["rss_bytes_per_user"], 4_800)
        self.assertEqual(messenger.crowd_faults(100, played), [])
        self.assertEqual(len(messenger.crowd_faults(200, played)), 1)

    def test_a_silent_crowd_is_a_fault(self):
        self.assertEqual(messenger.crowd_faults(100, played_with([here(1, 100)])), ["no messages were sent"])

    def test_the_peak_is_a_mean_over_seconds_and_not_one_look(self):
        rows = [here(index / 2, 1, server_cpu_s=index * 0.05) for index in range(40)]
        for index in range(20, 40):
            rows[index] = replace(rows[index], server_cpu_s=rows[index].server_cpu_s + 2.0)
        self.assertAlmostEqual(messenger.peak_percent(rows), 100 * (9 * 0.05 + 2) / 4.5)

    def test_siege_has_its_own_lines(self):
        played = played_with([NOBODY, here(2, 0, generator_cpu_s=1.0)])
        played.counts.update({"http": 90, "http_failed": 10})
        found = messenger.siege_figures(played)
        self.assertEqual((found["availability_percent"], found["transactions_per_second"]), (90, 9))
        self.assertAlmostEqual(found["requests_under_way"], 9 * 0.001)
        self.assertIn("10 http failed", messenger.siege_faults(played))


class ChatTest(unittest.TestCase):
    def test_at_its_limit_a_server_may_lose_time_but_no_scrape(self):
        played = played_with([NOBODY])
        played.counts.update({"lost": 3, "delivered": 5})
        self.assertEqual(chat.faults(played), ["3 lost"])
        self.assertEqual(chat.faults_at_limit(False, played), [])
        self.assertEqual(len(chat.faults_at_limit(False, replace(played, failed_scrapes=["timed out"]))), 1)

    def test_processor_time_counts_while_messages_go(self):
        idle, talk = here(5, 2), here(6, 2, messages_out=9, server_cpu_s=0.5)
        found = chat.figures(played_with([NOBODY, idle, talk, replace(talk, at_s=90.0)]))
        self.assertEqual(found["server_cpu_percent_mean"], 50)


class ReplicasTest(unittest.TestCase):
    def test_the_shipped_configuration_has_the_addresses_of_this_machine(self):
        nodes = [Running(f"127.0.0.1:{port}", 7, f"http://127.0.0.1:{port + 1}/metrics") for port in (4000, 4010)]
        text = replicas.configured(replicas.CONFIGURATION.read_text(), 8000, nodes, 1100)
        self.assertIn("server throng1 127.0.0.1:4000 port 4001\n", text)
        self.assertIn("server throng2 127.0.0.1:4010 port 4011\n", text)
        self.assertIn("bind 127.0.0.1:8000\n", text)
        self.assertIn("maxconn 1100\n", text)

    def test_another_configuration_than_the_shipped_one_is_refused(self):
        with self.assertRaises(RuntimeError):
            replicas.configured("frontend public\n", 8000, [], 1100)


class LimitTest(unittest.TestCase):
    def test_the_controllers_own_hierarchy_is_found_before_the_unified_one(self):
        mounts = ("t /sys tmpfs rw", "c /sys/both cgroup2 rw", "c /sys/set cgroup rw,cpuset", "c /sys/cpu cgroup rw,cpu")
        self.assertEqual(cgroup.hierarchy("\n".join(f"{line} 0 0" for line in mounts)), (Path("/sys/cpu"), 1))
        self.assertEqual(cgroup.hierarchy("c /sys/fs/cgroup cgroup2 rw 0 0\n"), (Path("/sys/fs/cgroup"), 2))
        self.assertIsNone(cgroup.hierarchy("t /sys tmpfs rw 0 0\n"))

    def test_throttling_is_read_alike_of_both_versions(self):
        self.assertEqual(cgroup.throttling_of("nr_periods 40\nnr_throttled 10\nthrottled_time 5\n").percent, 25)
        self.assertEqual(cgroup.throttling_of("usage_usec 7\nnr_periods 4\nnr_throttled 0\n").percent, 0)
        self.assertEqual(cgroup.throttling_of("").percent, 0)


class ThenAndNowTest(unittest.TestCase):
    def test_every_published_figure_stands_beside_one_that_is_measured(self):
        names = {road.SEED: road.figures(1_000, 600, road_played(1_000, crash=600))}
        names[chat.SEED] = chat.figures(played_with([NOBODY]))
        names[messenger.SEED] = messenger.crowd_figures(1, played_with([here(1, 1)])) | messenger.siege_figures(
            played_with([NOBODY])
        )
        scenarios = {run.scenario: run.seed for run in everything()}
        for seed, told in then.published().items():
            for figure in told["figures"]:
                holes = [name for _, name, _, _ in string.Formatter().parse(figure["now"]["text"]) if name is not None]
                self.assertEqual(holes, [str(index) for index in range(len(figure["now"]["figures"]))], figure["what"])
                for scenario, name in figure["now"]["figures"]:
                    self.assertEqual(scenarios[scenario], seed)
                    self.assertIn(name, names[seed])

    def test_what_was_not_measured_is_said_and_what_is_invalid_is_marked(self):
        table = then.tables([road.SEED], lambda _scenario, _name: None)[road.SEED]
        self.assertEqual({row[2] for row in table.rows}, {then.NOTHING})
        table = then.tables([road.SEED], lambda _scenario, _name: {"median": 7.0, "valid": False})[road.SEED]
        self.assertEqual(table.rows[0][2], f"7 {then.INVALID}")

    def test_the_result_has_the_form_of_the_schema(self):
        kept = report.Kept([], [], [], {"chat": "no limit"})
        plan.keep(everything()[0], road_played(1_000), kept)
        self.assertEqual(complaints(report.document(kept, facts())), [])
        text = report.markdown(kept, facts())
        self.assertIn("1 of 1 runs are VALID", text)
        self.assertIn("1,999,984", text)
        self.assertNotIn("1,999,984", report.markdown(kept, replace(facts(), smoke=True)))


class Address:
    address = "127.0.0.1:4000"
    metrics_url = "http://127.0.0.1:4001/metrics"


ADDRESS = Address()


def everything() -> list[Run]:
    return plan.plan(list(plan.SEEDS), 1, 0.1)


def facts() -> report.Facts:
    machine = {"cores": "2", "model": "some", "kernel": "6.1", "memory": "1 GiB"}
    return report.Facts("bench/seeds", machine, {}, list(plan.SEEDS), 0.1, False)


def here(at_s: float, people: int, **others) -> Row:
    return replace(NOBODY, at_s=at_s, connections=people, joined=people, **others)


def played_with(rows: list[Row], valid: bool = True) -> Played:
    spread = {f"{part}_us": 1000.0 for part in ("p50", "p90", "p95", "p99", "mean", "stddev", "max")} | {"count": 1}
    counted = ("sent", "expected", "delivered", "lost", "late", "errors", "users_failed")
    counted += ("http", "http_failed", "http_bytes")
    times = {name: spread for name in ("connect", "join", "latency", "http")} | {"labelled": []}
    summary = {
        "counts": dict.fromkeys(counted, 0),
        "times": times,
        "seconds": 10.0,
        "fan_out": {"last_receiver": spread},
        "verdict": {"valid": valid, "reasons": [] if valid else ["late"]},
    }
    return Played(summary, rows, [])


def road_played(everybody: int, crash: int = 0, valid: bool = True) -> Played:
    """Looks at a crowd that comes within a second and a half; those that crash are forgotten after one."""
    whole = here(2.0, everybody, server_rss_bytes=everybody * 1_200, available_bytes=10_000_000 - everybody * 4_000)
    rows = [NOBODY, replace(NOBODY, at_s=0.5), here(1.5, everybody // 2), whole, replace(whole, at_s=3.0)]
    if crash:
        rows += [replace(whole, at_s=3.5, connections=everybody - crash // 2)]
        rows += [replace(whole, at_s=4.0, connections=everybody - crash)]
    played = played_with(rows, valid)
    played.counts["delivered"] = everybody
    return played


if __name__ == "__main__":
    unittest.main()
