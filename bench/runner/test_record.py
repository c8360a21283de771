"""What a record comes to, from made-up observations."""

import tempfile
import unittest
from pathlib import Path

from runner import record, record_memory, record_report, talk


class Plans(unittest.TestCase):
    def test_a_smaller_plan_has_its_part_of_the_people_and_all_of_the_broadcasts(self):
        small = record.Plan().smaller(100)
        self.assertEqual((small.crowd, small.cut, small.broadcasts), (20_000, 1_000, 3))
        self.assertEqual(small.connections, 20_000 + small.more + record.PAIR)

    def test_the_two_who_talk_do_not_look_like_a_broadcast(self):
        for scale in (1, 100, 1000):
            self.assertLess(record.Plan().smaller(scale).stir, record.Plan().smaller(scale).crowd)


class Latencies(unittest.TestCase):
    def test_only_messages_that_were_meant_to_go_in_a_window_count(self):
        deliveries = [talk.Delivery(float(second), float(second)) for second in range(100)]
        latency = talk.within(deliveries, [(10, 19), (30, 39)])
        self.assertEqual((latency.count, latency.p50_ms, latency.p99_ms, latency.max_ms), (20, 19, 39, 39))
        self.assertIsNone(talk.within(deliveries, [(200, 300)]))

    def test_deliveries_are_read_from_an_event_log(self):
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder)
            (run / "run.json").write_text('{"started": "1970-01-01T00:01:00.000Z"}')
            rows = [
                "kind,outcome,room,at_ns,intended_ns",
                "receive,ok,rooms:pair,2500000000,2000000000",
                "receive,unexpected,rooms:pair,2500000000,2000000000",
                "receive,ok,rooms:lobby,2500000000,2000000000",
                "send,ok,rooms:pair,2500000000,2000000000",
            ]
            (run / "events.csv").write_text("\n".join(rows) + "\n")
            self.assertEqual(talk.read(run), [talk.Delivery(62.0, 500.0)])


class Joins(unittest.TestCase):
    def test_a_step_has_the_middle_of_its_medians_and_its_greatest_p99(self):
        def second(joined: int, p50: int, p99: int) -> dict:
            return {"joined": str(joined), "join_count": "9", "join_p50_us": str(p50), "join_p99_us": str(p99)}

        nobody = {"joined": "100", "join_count": "0", "join_p50_us": "", "join_p99_us": ""}
        crowd = [second(510, 1000, 2000), second(550, 3000, 9000), nobody, second(600, 2000, 4000), second(2000, 5000, 6000)]
        storm = [second(1500, 70_000, 80_000), second(2000, 90_000, 99_000)]
        steps = record_report.joins_by_step(record.Plan(crowd=2000), crowd + storm)
        self.assertEqual(
            steps,
            [
                {"joined": 600, "join_p50_ms": 2.0, "join_p99_ms": 9.0},
                {"joined": 2000, "join_p50_ms": 5.0, "join_p99_ms": 6.0},
            ],
        )


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
        self.assertIn("| the server's process | connection slots | 40.0 |", record_memory.lines(found))

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

    def test_a_lost_delivery_is_a_fault(self):
        plan = record.Plan().smaller(100)
        right = {
            "users_failed": 0, "lost": 0, "late": 0, "scrapes_failed": 0,
            "joined_at_once": plan.crowd, "delivered": 3 * plan.crowd,
        }  # fmt: skip
        data = {"record": right, "floor": None, "bare": None}
        self.assertEqual(record_report.faults(plan, data), [])
        self.assertEqual(len(record_report.faults(plan, data | {"record": right | {"lost": 1, "delivered": 0}})), 2)


if __name__ == "__main__":
    unittest.main()
