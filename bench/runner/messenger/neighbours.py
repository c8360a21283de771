"""A quiet community: alone, beside one whose people send as fast as they are answered, and with these people in the community
itself. The server has a core to itself, so that what one community waits for is what the server does for the other."""

import contextlib
import time
from dataclasses import dataclass

from runner.cluster.nodes import Stage
from runner.competition import cores
from runner.messenger import people
from runner.messenger.durable import acknowledged
from runner.messenger.house import House, open_house
from runner.play import PATIENCE_S, playing, wrong
from runner.samples import Measurement
from runner.trials import Outcome, Tools

ALONE, BESIDE, AMONG = "alone", "beside a crowd", "among the crowd"

QUIET, OTHER = people.COMMUNITIES[:2]
# Where the crowd is, if there is one.
CROWD_IN = {ALONE: None, BESIDE: OTHER, AMONG: QUIET}


@dataclass(frozen=True)
class Neighbours:
    name: str
    # They say something each second.
    quiet: int
    crowd: int
    seconds: float
    beat: str = "1s"
    subjects: tuple = (ALONE, BESIDE, AMONG)

    @property
    def connections(self) -> int:
        return self.quiet + self.crowd

    def repeats(self, wanted: int) -> int:
        return wanted

    def measure(self, tools: Tools) -> Outcome:
        outcome = Outcome({})
        for subject in self.subjects:
            with contextlib.ExitStack() as stack:
                with cores.on(cores.server()):
                    stage = Stage(self.connections, single_shard=False)
                    house = stack.enter_context(open_house(tools, stage, self.crowd, rooms=1, communities=2))
                with cores.on(cores.client()):
                    outcome.by_subject[subject] = self._talk(tools, subject, house, outcome.verdicts)
        return outcome

    def _talk(self, tools: Tools, subject: str, house: House, verdicts: list[dict]) -> Measurement:
        crowd_in = CROWD_IN[subject]
        with contextlib.ExitStack() as stack:
            if crowd_in:
                crowd = stack.enter_context(self._crowd(tools, house, crowd_in))
                # Each of them has said something.
                crowd.until("the crowd's messages", lambda: house.stored() >= self.crowd)
            began, before = time.monotonic(), house.stored()
            summary = self._quiet(tools, subject, house, verdicts)
            seconds, stored = time.monotonic() - began, house.stored() - before
        faults = wrong(summary, "users_failed", "errors")
        acks = acknowledged(summary)
        if not acks:
            return Measurement({}, [*faults, "nothing was acknowledged"])
        if stored < acks["count"]:
            faults.append(f"{acks['count']:,} messages were acknowledged, but {stored:,} are stored")
        found = {f"ack_ms_{part}": acks[f"{part}_us"] / 1000 for part in ("p50", "p99", "max")}
        found |= {"messages": acks["count"], "crowd_messages_per_second": (stored - acks["count"]) / seconds}
        if crowd_in and stored == acks["count"]:
            faults.append("the crowd said nothing meanwhile")
        return Measurement(found | {"invalid_runs": float(not summary["verdict"]["valid"])}, faults)

    def _quiet(self, tools: Tools, subject: str, house: House, verdicts: list[dict]) -> dict:
        guests = house.people.with_name("quiet.csv")
        people.write(guests, self.quiet, rooms=1, community=QUIET, called="q")
        talk = {"users": self.quiet, "talkers": self.quiet, "beat": self.beat, "seconds": f"{self.seconds}s"}
        values = house.values | talk | {"people": guests, "community": QUIET}
        with playing(tools.stampede, subject, "messenger-pairs", values, verdicts) as play:
            return play.summary(self.seconds + 2 * PATIENCE_S)

    def _crowd(self, tools: Tools, house: House, community: str):
        """They talk until this is closed."""
        guests = house.people.with_name("crowd.csv")
        people.write(guests, self.crowd, rooms=1, community=community)
        talk = {"users": self.crowd, "talkers": self.crowd, "seconds": f"{self.seconds + 3 * PATIENCE_S}s"}
        values = house.values | talk | {"people": guests, "community": community}
        return playing(tools.stampede, "the crowd", "messenger-pairs", values, [])
