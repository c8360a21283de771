"""What a record comes to, from made-up observations."""

import json
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from runner import filed, record, record_joins, record_memory, record_report, talk


class Plans(unittest.TestCase):
    def test_a_smaller_plan_has_its_part_of_the_people_and_all_of_the_broadcasts(self):
        small = record.Plan().smaller(100)
        self.assertEqual((small.crowd, small.cut, small.broadcasts), (20_000, 1_000, 3))
        self.assertEqual(small.connections, 20_000 + small.more + record.PAIR)

    def test_the_two_who_talk_do_not_look_like_a_broadcast(self):
        for scale in (1, 100, 1000):
            self.assertLess(record.Plan().smaller(scale).stir, record.Plan().smaller(scale).crowd)


class TheCrowd(unittest.TestCase):
    def test_a_crowd_that_will_never_be_complete_ends_the_run(self):
        def row(at_s: float, joined: int) -> SimpleNamespace:
            return SimpleNamespace(at_s=at_s, joined=joined)

        are_here = record.all_are_here(record.Plan(crowd=100))
        stalled_s = record.STALLED_S
        for at_s, joined in [(0, 0), (stalled_s * 2, 0), (stalled_s * 2 + 1, 50), (stalled_s * 3, 99)]:
            self.assertFalse(are_here(row(at_s, joined)))
        self.assertTrue(are_here(row(stalled_s * 3 + 5, 100)))
        self.assertFalse(are_here(row(stalled_s * 3 + 6, 99)))
        with self.assertRaisesRegex(TimeoutError, "99 of 100 have joined"):
            are_here(row(stalled_s * 5, 99))


class Latencies(unittest.TestCase):
    def test_only_messages_that_were_meant_to_go_in_a_window_count(self):
        deliveries = [talk.Delivery(float(second), float(second)) for second in range(100)]
        latency = talk.within(deliveries, [(10, 19), (30, 39)])
        self.assertEqual((latency.count, latency.p50_ms, latency.p99_ms, latency.max_ms), (20, 19, 39, 39))
        self.assertIsNone(talk.within(deliveries, [(200, 300)]))

    def test_what_came_from_the_other_is_read_from_an_event_log(self):
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder)
            (run / "run.json").write_text('{"started": "1970-01-01T00:01:00.000Z"}')
            rows = [
                "kind,outcome,room,user,message,at_ns,intended_ns",
                "receive,ok,rooms:pair,2,a,2500000000,2000000000",
                "receive,ok,rooms:pair,1,a,2900000000,2000000000",
                "receive,unexpected,rooms:pair,2,a,2500000000,2000000000",
                "receive,ok,rooms:lobby,2,b,2500000000,2000000000",
                "send,ok,rooms:pair,1,a,2500000000,2000000000",
            ]
            (run / "events.csv").write_text("\n".join(rows) + "\n")
            self.assertEqual(talk.read(run), [talk.Delivery(62.0, 500.0)])


class Joins(unittest.TestCase):
    def test_a_step_has_the_middle_of_its_seconds_and_the_worst_of_them(self):
        def second(joined: int, p50: int, p99: int) -> dict:
            times = {"join_p50_us": str(p50), "join_p99_us": str(p99), "connect_p50_us": str(p50 + 500)}
            return {"joined": str(joined), "join_count": "9", **times}

        nobody = {"joined": "100", "join_count": "0", "join_p50_us": "", "join_p99_us": "", "connect_p50_us": ""}
        crowd = [second(510, 1000, 2000), second(550, 3000, 9000), nobody, second(600, 2000, 4000), second(2000, 5000, 6000)]
        storm = [second(1500, 70_000, 80_000), second(2000, 90_000, 99_000)]
        steps = record_joins.by_step(2000, crowd + storm)
        self.assertEqual(
            steps,
            [
                {"joined": 600, "timed": 27, "join_p50_ms": 2.0, "join_p99_ms": 4.0, "join_p99_ms_max": 9.0, "connect_p50_ms": 2.5},
                {"joined": 2000, "timed": 9, "join_p50_ms": 5.0, "join_p99_ms": 6.0, "join_p99_ms_max": 6.0, "connect_p50_ms": 5.5},
            ],
        )
        self.assertIn("| 600 | 2.00 ms | 4.00 ms | 9.00 ms | 2.50 ms |", record_joins.lines(steps))
        self.assertEqual(record_joins.faults(36, steps), [])
        self.assertEqual(len(record_joins.faults(37, steps)), 1)

    def test_joins_that_take_as_long_as_the_room_is_large_are_not_flat(self):
        def rise(of_step) -> float:
            return record_joins.rise([{"join_p50_ms": of_step(number)} for number in range(1, 21)], "join_p50_ms")

        self.assertEqual(rise(lambda number: 7), 1)
        self.assertGreater(rise(lambda number: 5 * number), record_joins.RISE_MAX)
        # A tenth of a millisecond is the resolution, and a step that was disturbed is one of ten.
        self.assertEqual(rise(lambda number: number / 200), 1)
        self.assertGreater(rise(lambda number: number / 20), record_joins.RISE_MAX)
        self.assertEqual(rise(lambda number: 900 if number in (1, 12, 19) else 7), 1)

    def test_of_too_few_steps_nothing_is_said(self):
        self.assertIsNone(record_joins.rise([{"join_p50_ms": 7.0}] * 19, "join_p50_ms"))

    def test_the_bound_tells_the_records_whose_generator_fell_behind_from_the_others(self):
        # The first of them waited for its generator by seconds: its own delay had a 99th percentile of 6.4 s.
        for run, is_flat in (("22-0508", False), ("22-1855", True), ("23-0205", True), ("24-0027", True)):
            document = json.loads((filed.FOLDER / f"2026-11-{run}-record" / "record.json").read_text())
            found = record_joins.rise(document["details"]["joins"], "join_p50_ms")
            self.assertEqual(found <= record_joins.RISE_MAX, is_flat, f"{run}: {found}")


PAGE = """# TYPE throng_memory_bytes gauge
throng_memory_bytes{component="connection_slots"} 400
throng_memory_bytes{component="topic_members"} 160
throng_memory_bytes{component="presence"} 0
throng_kernel_memory_bytes{component="sockets"} 40000
process_resident_memory_bytes 600
"""


class Memory(unittest.TestCase):
    def test_what_is_resident_and_in_no_component_is_the_rest(self):
        found = record_memory.of_server(PAGE, people=10)
        self.assertEqual(
            found,
            {
                "server_memory_bytes_per_client": {"connection_slots": 40.0, "topic_members": 16.0, "rest": 4.0},
                "server_kernel_bytes_per_client": {"sockets": 4000.0},
            },
        )
        self.assertIn("| server process | connection slots | 40.0 |", record_memory.lines(found))

    def test_stampedes_own_parts_are_told_where_its_summary_has_them(self):
        memory = {"users_bytes": 700, "timers_bytes": 0}
        found = record_memory.of_generator({"generator": {"rss_max_bytes": 900, "memory": memory}}, people=10)
        self.assertEqual(found, {"generator_memory_bytes_per_client": {"users": 70.0, "rest": 20.0}})
        self.assertEqual(record_memory.of_generator({"generator": {"rss_max_bytes": 900}}, people=10), {})
        self.assertEqual(record_memory.lines({}), [])


class Judgement(unittest.TestCase):
    def test_what_was_not_measured_is_not_reached(self):
        judged = record_report.Judged("something", None, "ms", 250)
        self.assertFalse(judged.holds)
        self.assertIn("not measured", judged.row())

    def test_a_bound_may_be_the_most_or_the_least(self):
        self.assertTrue(record_report.Judged("memory", 165, "bytes", 256).holds)
        self.assertFalse(record_report.Judged("rate", 0.7, "× floor", 0.75, at_most=False).holds)

    def test_a_failed_scrape_is_a_missed_target_whoever_scraped(self):
        plan = record.Plan()
        pair = {"p99_ms": 1.0, "max_ms": 1.0}
        windows = ("while all are quiet", "while a broadcast runs", "while the cut are cleaned up")
        found = {
            "verdicts": {"the crowd": {"valid": True}, "the two who talk": {"valid": True}},
            "joined_at_once": plan.crowd, "users_failed": 0, "lost": 0, "late": 0,
            "server_rss_bytes_per_client": 179, "generator_rss_bytes_per_client": 387,
            "scrape_ms_max": 200, "scrapes_failed": 0, "generator_scrapes_failed": 0,
            "scrapes_too_long": {"coming": 0, "leaving": 7},
            "kernel_slab_bytes_per_pair": 8400, "server_kernel_bytes_per_client": {"sockets": 4000},
            "pair": {name: pair for name in windows},
        }  # fmt: skip
        same = {name: 1.0 for name in ("last_receiver_ms_median", "server_cpu_us_per_delivery", "connections_per_second")}

        def missed(**other) -> list[str]:
            judged = record_report.judge(plan, found | other, [{"join_p50_ms": 1.0, "join_p99_ms": 9.0}] * 20, same, same)
            return [one.name for one in judged if not one.holds]

        self.assertEqual(missed(), [])
        self.assertEqual(missed(scrapes_failed=1), ["failed scrapes"])
        self.assertEqual(missed(kernel_slab_bytes_per_pair=9000), ["error of the kernel's part in the server's metrics"])
        self.assertEqual(
            missed(scrapes_too_long={"coming": 1, "leaving": 0}), ["scrapes that took longer, while the clients are connected"]
        )
        self.assertEqual(missed(generator_scrapes_failed=5), ["failed scrapes of Stampede's own"])

    def test_a_lost_delivery_is_a_fault(self):
        plan = record.Plan().smaller(100)
        right = {
            "users_failed": 0, "lost": 0, "late": 0, "duplicates": 0, "unexpected": 0, "scrapes_failed": 0,
            "joined_at_once": plan.crowd, "delivered": 3 * plan.crowd,
            "wrong_of_pair": {"lost": 0}, "wrong_of_further_clients": {"users_failed": 0},
        }  # fmt: skip
        data = {"record": right, "joins": [{"timed": plan.crowd}], "floor": None, "bare": None}
        self.assertEqual(record_report.faults(plan, data), [])
        self.assertEqual(len(record_report.faults(plan, data | {"record": right | {"lost": 1, "delivered": 0}})), 2)
        of_others = right | {"wrong_of_pair": {"lost": 1}, "wrong_of_further_clients": {"users_failed": 2}}
        self.assertEqual(
            record_report.faults(plan, data | {"record": of_others}),
            ["the two who talk: 1 lost", "the further clients: 2 users failed"],
        )


if __name__ == "__main__":
    unittest.main()
