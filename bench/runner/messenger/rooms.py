"""Rooms of the messenger, where what is said is stored first, beside rooms of the lobby, where it is only passed on: the same
people, the same number of messages of the same size. Beside both, what a bare commit for each of these messages costs. And
whether the server's memory grows while they talk."""

import time
from dataclasses import dataclass

from runner import kernel
from runner.cluster.nodes import Reading, Span, Stage, alone, joined
from runner.cluster.talk import Talk, Talked, talk
from runner.messenger.durable import of_program
from runner.messenger.house import House, open_house
from runner.play import PATIENCE_S, playing
from runner.samples import Measurement
from runner.soak import slope
from runner.trials import Outcome, Tools

PLAIN, STORED, COMMITS = "lobby's rooms", "messenger's rooms", "bare commits"

EVERY_S = 1.0


@dataclass(frozen=True)
class Rooms:
    name: str
    talk: Talk
    arrivals_per_second: int
    # How long memory is watched, instead of what is said being compared.
    watched_s: float | None = None
    subjects: tuple = (PLAIN, STORED, COMMITS)

    @property
    def connections(self) -> int:
        return self.talk.users

    def repeats(self, wanted: int) -> int:
        return 1 if self.watched_s else wanted

    def measure(self, tools: Tools) -> Outcome:
        outcome = Outcome({})
        if not self.watched_s:
            with alone(tools.throng, self._stage) as nodes:
                plain = talk(tools, PLAIN, self.talk, nodes, outcome.verdicts)
            outcome.by_subject[PLAIN] = measurement(plain)
            outcome.by_subject[COMMITS] = self._commits(tools)
        with open_house(tools, self._stage, self.talk.users, self.talk.rooms) as house:
            stored, growth = self._talk(tools, house, outcome.verdicts)
        found = measurement(stored)
        found.values.update(growth)
        outcome.by_subject[STORED] = found
        return outcome

    def _commits(self, tools: Tools) -> Measurement:
        """As many messages as the rooms have, each inserted and committed by a thread that is woken for it."""
        a_second = self.talk.messages_per_second
        messages = max(round(a_second * self.talk.seconds), 1)
        [bare] = of_program(tools, "--messages", messages, "--every-us", round(1_000_000 / a_second))
        return Measurement({name: bare[name] for name in ("cpu_us_per_message", "messages_per_second")}, [])

    @property
    def _stage(self) -> Stage:
        return Stage(self.talk.users, single_shard=False)

    def _talk(self, tools: Tools, house: House, verdicts: list[dict]) -> tuple[Talked, dict[str, float]]:
        plan, nodes = self.talk, [house.server]
        seconds = self.watched_s or plan.seconds
        values = house.values | {"users": plan.users, "arrivals": f"{self.arrivals_per_second}/s"} | plan.times(seconds)
        with playing(tools.stampede, STORED, "messenger-rooms", values, verdicts) as play:
            patience_s = 60 + 10 * plan.users / self.arrivals_per_second
            play.until("everybody's join", lambda: joined(nodes) >= plan.users, patience_s)
            time.sleep(plan.interval_s + plan.margin_s)
            before = Reading.of(nodes)
            growth = memory(house.server.pid, seconds)
            span = Span.between(before, Reading.of(nodes))
            summary = play.summary(plan.interval_s + seconds + PATIENCE_S)
        return Talked(span, summary, plan.members), growth if self.watched_s else {}


def measurement(played: Talked) -> Measurement:
    span = played.span
    cpu_us_per_message = span.cpu_s * 1e6 * played.members / span.deliveries if span.deliveries else 0.0
    figures = played.figures | {"cpu_us_per_message": cpu_us_per_message, "invalid_runs": float(not played.is_valid)}
    return Measurement(figures, played.faults)


def memory(pid: int, seconds: float) -> dict[str, float]:
    """Looks at the resident set for so long; its slope, and the error of that, by the hour."""
    began, times, resident = time.monotonic(), [], []
    while (now := time.monotonic() - began) < seconds:
        times.append(now)
        resident.append(float(kernel.resident_bytes(pid)))
        time.sleep(min(EVERY_S, max(seconds - now, 0)))
    found = {"rss_bytes_first": resident[0], "rss_bytes_last": resident[-1]}
    if line := slope.of(times, resident):
        found |= {"rss_bytes_per_hour": line.per_second * 3600, "rss_bytes_per_hour_error": line.error * 3600}
    return found
