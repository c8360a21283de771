import unittest

import tsung_log

GOOD = """\
# stats: dump at 1795293970
stats: users 3 3
stats: {load,"tsung_controller@host"} 1 1.4296875 0 1.4296875 1.4296875 0 0
stats: users_count 3 3
stats: finish_users_count 0 0
stats: request 6 2.48 5.88 58.06 0.176 0 0
stats: connected 3 3
stats: websocket_succ 3 3
# stats: dump at 1795293979
stats: users 0 3
stats: session 3 10011.4 25.1 10208.8 10004.3 0 0
stats: users_count 0 3
stats: finish_users_count 3 3
stats: connected -3 0
EndMonitor:{1795,293979,879450}
"""


def complaints(text, users=3, session_ms=10_000):
    return tsung_log.complaints(tsung_log.parse(text), users, session_ms)


class TsungLogTest(unittest.TestCase):
    def test_a_run_in_which_all_stayed_has_no_complaints(self):
        self.assertEqual(complaints(GOOD), [])

    def test_an_empty_log_is_a_complaint(self):
        self.assertNotEqual(complaints(""), [])

    def test_a_user_who_never_came_is_a_complaint(self):
        self.assertNotEqual(complaints(GOOD, users=4), [])

    def test_a_connection_lost_in_mid_session_is_a_complaint(self):
        self.assertIn("only 2 of 3 connected", complaints(GOOD.replace("connected 3 3", "connected 2 2")))

    def test_a_refused_handshake_is_a_complaint(self):
        self.assertIn(
            "websocket_succ is 2, not 3", complaints(GOOD.replace("websocket_succ 3 3", "websocket_succ 2 2"))
        )

    def test_any_error_counter_is_a_complaint(self):
        self.assertIn(
            "error_connect_econnrefused: 1", complaints(GOOD + "stats: error_connect_econnrefused 1 1\n")
        )

    def test_a_session_cut_short_is_a_complaint(self):
        self.assertEqual(len(complaints(GOOD, session_ms=10_005)), 1)


if __name__ == "__main__":
    unittest.main()
