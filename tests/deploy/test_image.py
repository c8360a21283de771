"""The image, as far as it can be seen by reading: its stages need the internet to be built."""

import re
import unittest

from harness.programs import ROOT
from programs import DEPLOY, checkers, run

DOCKERFILE = DEPLOY / "docker" / "Dockerfile"
IGNORED = ROOT / ".dockerignore"
USER = 65532


class Reading(unittest.TestCase):
    def test_hadolint_has_nothing_to_say(self) -> None:
        status, said = run(checkers() / "hadolint", DOCKERFILE)
        self.assertEqual(status, 0, said)

    def test_the_stages_are_the_compiler_that_the_workspace_asks_for_and_a_user_that_is_not_root(self) -> None:
        text = DOCKERFILE.read_text()
        version = re.search(r'^rust-version = "([\d.]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
        self.assertIn(f"FROM rust:{version}-", text)
        self.assertRegex(text, rf"\nUSER {USER}:{USER}\n")

    def test_every_member_of_the_workspace_is_among_what_the_image_is_built_of(self) -> None:
        kept = {line.removeprefix("!") for line in IGNORED.read_text().splitlines() if line.startswith("!")}
        members = re.search(r"^members = \[(.*?)\]", (ROOT / "Cargo.toml").read_text(), re.MULTILINE | re.DOTALL)
        for member in re.findall(r'"([^"]+)"', members.group(1)):
            self.assertIn(member.partition("/")[0], kept)
        self.assertLessEqual({".cargo", "Cargo.toml", "Cargo.lock", "web"}, kept)


if __name__ == "__main__":
    unittest.main()
