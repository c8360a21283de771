"""What a person costs the server who has one room and the conversations open and says nothing."""

from dataclasses import dataclass

from runner import kernel
from runner.cluster.nodes import Stage
from runner.messenger.house import open_house
from runner.play import playing
from runner.samples import Measurement, slope
from runner.scenarios import settled
from runner.trials import Outcome, Tools

SUBJECT = "throng"

# A person has two joins: their own topic and a room.
JOINS_EACH = 2


@dataclass(frozen=True)
class Idle:
    """The slope of the resident set over numbers of people, each of a run of its own: nothing is left of a larger crowd."""

    name: str
    steps: tuple[int, ...]
    people_per_room: int
    arrivals_per_second: int
    # How long the resident set may take to settle.
    settles_s: float = 20
    subjects: tuple = (SUBJECT,)

    @property
    def connections(self) -> int:
        return self.steps[-1]

    def repeats(self, wanted: int) -> int:
        return min(wanted, 2)  # minutes each, and hardly any spread

    def measure(self, tools: Tools) -> Outcome:
        outcome = Outcome({})
        held = [self._held(tools, people, outcome.verdicts) for people in self.steps]
        values = {f"{name}_per_person": slope(self.steps, [one[name] for one in held]) for name in held[0]}
        values |= {f"rss_bytes_at_{people}": one["rss_bytes"] for people, one in zip(self.steps, held)}
        # What a person has a part of although it is bounded for all of them together.
        values["cache_bytes_at_most"] = held[-1]["cache_bytes"]
        outcome.by_subject[SUBJECT] = Measurement(values, [])
        return outcome

    def _held(self, tools: Tools, people: int, verdicts: list[dict]) -> dict[str, float]:
        rooms = max(people // self.people_per_room, 1)
        with open_house(tools, Stage(people, single_shard=False), people, rooms) as house:
            values = house.values | {"users": people, "arrivals": f"{self.arrivals_per_second}/s"}
            with playing(tools.stampede, f"{people:,} idle people", "messenger-idle", values, verdicts) as play:
                all_joined = lambda: house.value("throng_joined") >= JOINS_EACH * people  # noqa: E731
                play.until("everybody's joins", all_joined, 60 + 10 * people / self.arrivals_per_second)
                rss_bytes = settled(lambda: kernel.resident_bytes(house.server.pid), self.settles_s)
                cache_bytes = house.value("throng_cache_bytes")
                # None was lost meanwhile.
                play.until("everybody's joins", all_joined, 0)
        return {"rss_bytes": rss_bytes, "cache_bytes": cache_bytes}
