"""What visits ask of the store, with the read cache and without it."""

from dataclasses import dataclass

from runner import metrics
from runner.cluster.nodes import Stage
from runner.messenger.house import House, open_house
from runner.play import PATIENCE_S, playing, wrong
from runner.samples import Measurement
from runner.trials import Outcome, Tools
from runner.watch import sum_of

CACHED, UNCACHED = "read cache", "no read cache"

SETTINGS = {CACHED: {}, UNCACHED: {"THRONG_STORE_CACHE": "off"}}


@dataclass(frozen=True)
class Visits:
    name: str
    # At a time.
    people: int
    rooms: int
    # Of each.
    visits: int
    pause: str = "200ms..600ms"
    subjects: tuple = (UNCACHED, CACHED)

    @property
    def connections(self) -> int:
        return 2 * self.people

    def repeats(self, wanted: int) -> int:
        return min(wanted, 3)

    def measure(self, tools: Tools) -> Outcome:
        outcome = Outcome({})
        for subject in self.subjects:
            stage = Stage(self.connections, single_shard=False)
            with open_house(tools, stage, self.people, self.rooms, SETTINGS[subject], history=True) as house:
                outcome.by_subject[subject] = self._visit(tools, subject, house, outcome.verdicts)
        return outcome

    def _visit(self, tools: Tools, subject: str, house: House, verdicts: list[dict]) -> Measurement:
        before = Asked.of(house)
        values = house.values | {"users": self.people, "visits": self.visits, "pause": self.pause}
        with playing(tools.stampede, subject, "messenger-visits", values, verdicts) as play:
            summary = play.summary(3 * self.visits + PATIENCE_S)
        asked = Asked.of(house).since(before)
        visits = summary["counts"]["users"]
        faults = wrong(summary, "users_failed", "errors")
        faults += [] if visits == self.people * self.visits else [f"{visits} of {self.people * self.visits} visits"]
        found = {"visits": visits, "store_requests_per_visit": asked.store / max(visits, 1)}
        if asked.hits + asked.misses:
            found["cache_hits_percent"] = 100 * asked.hits / (asked.hits + asked.misses)
        elif subject == CACHED:
            faults.append("the read cache was not used")
        found["invalid_runs"] = float(not summary["verdict"]["valid"])
        return Measurement(found, faults)


@dataclass(frozen=True)
class Asked:
    """What was asked of store and cache."""

    store: float
    hits: float
    misses: float

    @staticmethod
    def of(house: House) -> "Asked":
        page = metrics.text(house.server.metrics_url)
        counted = (sum_of(page, f"throng_{name}_total") for name in ("store_requests", "cache_hits", "cache_misses"))
        return Asked(*counted)

    def since(self, before: "Asked") -> "Asked":
        return Asked(self.store - before.store, self.hits - before.hits, self.misses - before.misses)
