"""A quiet community: alone, beside one whose people send as fast as they are answered, and with these people in the community
itself. The server has a core to itself, so that what one community waits for is what the server does for the other."""

import contextlib
import time
from dataclasses import dataclass

from runner.cluster.nodes import Stage
from runner.competition import cores
from runner.messenger import people
from runner.messenger.durable import of_pairs
from runner.messenger.house import House, open_house
from runner.play import PATIENCE_S, playing
from runner.samples import Measurement
from runner.trials import Outcome, Tools

ALONE, BESIDE, AMONG = "alone", "beside a crowd", "among the crowd"

QUIET, OTHER = people.COMMUNITIES
# Where the crowd is, if there is one.
CROWD_IN = {ALONE: None, BESIDE: OTHER, AMONG: QUIET}
# What the names of the quiet and of the crowd begin with.
OF_QUIET, OF_CROWD = "q", "p"


@dataclass(frozen=True)
class Neighbours:
    name: str
    quiet: int
    crowd: int
    seconds: float
    # From one message of a quiet person to the next.
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
                    house = stack.enter_context(open_house(tools, stage, visitors=0, rooms=1, communities=2))
                with cores.on(cores.client()):
                    outcome.by_subject[subject] = self._talk(tools, subject, house, outcome.verdicts)
        return outcome

    def _talk(self, tools: Tools, subject: str, house: House, verdicts: list[dict]) -> Measurement:
        with contextlib.ExitStack() as stack:
            crowd = None
            if community := CROWD_IN[subject]:
                guests = self._guests(house, community, self.crowd, OF_CROWD)
                # They talk until the quiet have ended.
                talk = guests | {"seconds": f"{self.seconds + 3 * PATIENCE_S}s"}
                crowd = stack.enter_context(playing(tools.stampede, "the crowd", "messenger-pairs", talk, []))
                crowd.until("as many messages as people", lambda: house.stored(OF_CROWD) >= self.crowd)
            began, before = time.monotonic(), house.stored(OF_CROWD)
            talk = self._guests(house, QUIET, self.quiet, OF_QUIET) | {"beat": self.beat, "seconds": f"{self.seconds}s"}
            with playing(tools.stampede, subject, "messenger-pairs", talk, verdicts) as quiet:
                summary = quiet.summary(self.seconds + 2 * PATIENCE_S)
            # Whoever ended before is no crowd.
            is_loud = crowd is None or crowd.process.poll() is None
            of_crowd = (house.stored(OF_CROWD) - before) / (time.monotonic() - began)
        found = of_pairs(summary, house.stored(OF_QUIET))
        found.values["crowd_messages_per_second"] = of_crowd
        return found if is_loud else Measurement(found.values, [*found.faults, "the crowd ended too soon"])

    def _guests(self, house: House, community: str, many: int, called: str) -> dict:
        """What their scenario is told; all of them talk."""
        file = house.people.with_name(f"{called}.csv")
        people.write(file, many, rooms=1, community=community, called=called)
        return house.values | {"community": community, "people": file, "users": many, "talkers": many}
