"""A node of two is killed under a crowd, whose half comes to the other node at once, while two people talk there: what their
messages take before and meanwhile, with joins as they come and with a bound."""

import os
import signal
import time
from dataclasses import dataclass

from runner.cluster import redis
from runner.cluster.nodes import Stage, cluster, joined
from runner.play import PATIENCE_S, Playing, playing, times_ms, wrong
from runner.samples import Measurement
from runner.servers import Running
from runner.trials import Outcome, Tools

AS_THEY_COME, PACED = "as they come", "paced"

TOPICS = {"THRONG_HISTORY_TOPICS": "rooms:kept-* messages=100 age=10m"}
# What docs/operations.md recommends: some half of what a node begins while its own people keep their latency.
PACE = {
    "THRONG_LIMITS_CONNECTIONS_PER_SECOND": "2000",
    "THRONG_LIMITS_CONNECTIONS_BURST": "200",
    "THRONG_LIMITS_JOINS_PER_SECOND": "1000",
}
SETTINGS = {AS_THEY_COME: TOPICS, PACED: TOPICS | PACE}
PAIR = 2
# A small crowd comes within a second.
ARRIVALS_PER_SECOND_MIN = 200
# Messages of the pair come twenty times a second each: a second of them before the kill belongs to the time of peace.
HEAD_START_S = 1


@dataclass(frozen=True)
class Storm:
    name: str
    # On both nodes together, evenly.
    connections: int
    rooms: int
    # How long the pair talks before the storm, and then once more with the storm in it.
    before_s: int
    seconds: int
    # How long Stampede waits at the end of each of its runs for what is on its way.
    drain_s: int = 5
    subjects: tuple = (AS_THEY_COME, PACED)

    def repeats(self, wanted: int) -> int:
        return min(wanted, 3)

    def measure(self, tools: Tools) -> Outcome:
        outcome = Outcome({})
        for subject in self.subjects:
            outcome.by_subject[subject] = self._storm(tools, subject, outcome.verdicts)
        return outcome

    def _storm(self, tools: Tools, subject: str, verdicts: list[dict]) -> Measurement:
        # Either could take all of them, and has shards for that.
        stage = Stage(self.connections + PAIR, single_shard=False)
        with redis.running() as bus, cluster(tools.throng, stage, bus, 2, SETTINGS[subject]) as nodes:
            doomed, other = nodes
            values = {"first": f"ws://{doomed.address}", "second": f"ws://{other.address}"}
            arrivals = max(self.connections // 10, ARRIVALS_PER_SECOND_MIN)
            values |= {"users": self.connections, "rooms": self.rooms, "arrivals": f"{arrivals}/s", "drain": f"{self.drain_s}s"}
            with playing(tools.stampede, f"{subject}, the crowd", "cluster-storm", values, verdicts) as crowd:
                crowd.until("everybody's join", lambda: joined(nodes) == self.connections)
                moved = joined([doomed])
                with self._pair(tools, f"{subject}, the pair before", other, self.before_s, verdicts) as pair:
                    before = pair.summary(self.before_s + PATIENCE_S)
                with self._pair(tools, f"{subject}, the pair meanwhile", other, self.seconds, verdicts) as pair:
                    there = self.connections - moved
                    pair.until("the pair's joins", lambda: joined([other]) >= there + pair_joins(pair))
                    time.sleep(HEAD_START_S)
                    doomed_at = time.monotonic()
                    os.kill(doomed.pid, signal.SIGKILL)
                    crowd.until("everybody's return", lambda: joined([other]) >= self.connections + pair_joins(pair))
                    back_s = time.monotonic() - doomed_at
                    meanwhile = pair.summary(self.seconds + PATIENCE_S)
                crowd.process.send_signal(signal.SIGINT)
                came = crowd.summary(PATIENCE_S)
        return Measurement(figures(moved, back_s, before, meanwhile), faults(back_s, self.seconds, before, meanwhile, came))

    def _pair(self, tools: Tools, name: str, node: Running, seconds: int, verdicts: list[dict]):
        values = {"target": f"ws://{node.address}", "seconds": f"{seconds}s", "drain": f"{self.drain_s}s"}
        return playing(tools.stampede, name, "record-pair", values, verdicts)


def pair_joins(pair: Playing) -> int:
    """Each is in the lobby and in a room of their own, as long as they talk."""
    return 2 * PAIR if pair.process.poll() is None else 0


def figures(moved: float, back_s: float, before: dict, meanwhile: dict) -> dict[str, float]:
    latency = times_ms(before, "latency", "before") | times_ms(meanwhile, "latency", "meanwhile")
    return {"moved": moved, "all_back_s": back_s} | latency


def faults(back_s: float, seconds: float, before: dict, meanwhile: dict, crowd: dict) -> list[str]:
    """What is wrong with the summaries; connects that are refused while the crowd comes back are not."""
    found = [*wrong(before, "errors", "lost", "duplicates"), *wrong(meanwhile, "errors", "lost", "duplicates")]
    found += wrong(crowd, "users_failed", "lost", "duplicates")
    # Else the figures of the storm have peace in them, or the storm has none of the pair.
    return found if back_s < seconds else [*found, f"not all clients were back while the pair talked: after {back_s:.1f} s"]
