"""What a failure is called in a report."""

import json
import subprocess
import unittest

from runner.failures import FAILURES, told


def raised(what) -> Exception:
    try:
        what()
    except FAILURES as error:
        return error
    raise AssertionError("nothing went wrong")


class Told(unittest.TestCase):
    def test_a_program_is_named_without_its_folder(self) -> None:
        ended = subprocess.CalledProcessError(3, ["/somewhere/driver", "--address"])
        self.assertEqual(told(ended), "driver ended with 3")
        late = subprocess.TimeoutExpired(["/somewhere/driver"], 60.0)
        self.assertEqual(told(late), "driver did not end within 60 s")

    def test_a_file_is_not_named(self) -> None:
        self.assertEqual(told(raised(lambda: open("/somewhere/else"))), "No such file or directory")

    def test_a_timeout_says_what_it_waited_for(self) -> None:
        self.assertEqual(told(TimeoutError("waited for the crowd in vain")), "waited for the crowd in vain")

    def test_a_report_that_is_none_or_lacks_something(self) -> None:
        self.assertEqual(told(raised(lambda: {}["joined"])), "a report without 'joined'")
        self.assertIn("JSONDecodeError", told(raised(lambda: json.loads("half"))))
