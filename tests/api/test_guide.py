"""The examples of docs/api.md, run one after the other: each succeeds, and answers with the fields that the page shows."""

import json
import re
import subprocess
import unittest
from pathlib import Path

from harness.programs import ROOT, foreign_variables, throng
from server import running

GUIDE = ROOT / "docs" / "api.md"
BLOCK = re.compile(r"^```(sh|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Guide(unittest.TestCase):
    def test_every_example_does_what_the_page_says(self) -> None:
        blocks = BLOCK.findall(GUIDE.read_text())
        shown = [(place, text) for place, (kind, text) in enumerate(blocks) if kind == "json"]
        self.assertGreater(len(shown), 5)
        # One shell runs them all, so that what one sets the next one has; a line tells their answers apart.
        parts = ["set -euo pipefail"]
        for kind, text in blocks:
            parts.append(text if kind == "sh" else "printf '\\n%s\\n' ----json----")
            if kind == "sh":
                parts.append("printf '\\n%s\\n' ----next----")
        with running() as server:
            variables = {
                **(own := foreign_variables()),
                "PATH": f"{Path(throng()).parent}:{own['PATH']}",
                "BASE": server.public,
                "THRONG_DATA_DIR": str(server.folder),
                "THRONG_ADMIN_LISTEN": server.admin_address,
            }
            script = "\n".join(parts)
            ended = subprocess.run(["bash", "-c", script], env=variables, capture_output=True, text=True, timeout=300)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        answers = iter(re.findall(r"([^\n]*)\n----next----\n\n----json----\n", ended.stdout))
        for place, example in shown:
            answer = json.loads(next(answers))
            with self.subTest(example=blocks[place - 1][1]):
                self.assertEqual(set(answer), set(json.loads(example)))


if __name__ == "__main__":
    unittest.main()
