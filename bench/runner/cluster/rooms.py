"""Two nodes and a Redis beside one node, with the same people who say the same: what a delivery costs the nodes, and what
the way over the bus adds to the time that it takes."""

from dataclasses import dataclass

from runner.cluster import redis
from runner.cluster.nodes import Stage, alone, cluster
from runner.cluster.talk import Talk, Talked, talk
from runner.lab import max_of
from runner.samples import Measurement
from runner.trials import Outcome, Tools

ONE, TWO = "one node", "two nodes"

# A message that takes longer has not been carried.
CARRIED_P99_MS = 250
# From one load of the search for the most to the next.
STEP = 1.25


@dataclass
class Rooms:
    """The full load is a step below the most that both carry, which is looked for once in a run unless the load is given."""

    name: str
    talk: Talk
    full_per_second: float | None = None
    subjects: tuple = (ONE, TWO)

    @property
    def connections(self) -> int:
        return self.talk.users

    def repeats(self, wanted: int) -> int:
        return min(wanted, 5)

    def measure(self, tools: Tools) -> Outcome:
        if self.full_per_second is None:
            self.full_per_second = full_load(tools, self.talk)
        outcome = Outcome({})
        full = self._both(tools, self.full_per_second, "full", outcome)
        half = self._both(tools, self.full_per_second / 2, "half", outcome)
        for subject in self.subjects:
            played = (full[subject], half[subject])
            values = full[subject].figures | {f"{key}_at_half": value for key, value in half[subject].latency_ms.items()}
            values["invalid_runs"] = float(sum(not one.is_valid for one in played))
            outcome.by_subject[subject] = Measurement(values, [fault for one in played for fault in one.faults])
        outcome.by_subject[TWO].values.update(added(half[ONE].latency_ms, half[TWO].latency_ms))
        return outcome

    def _both(self, tools: Tools, rate: float, load: str, outcome: Outcome) -> dict[str, Talked]:
        plan = self.talk.at(rate)
        return {
            ONE: on_one_node(tools, f"{ONE}, {load} load", plan, outcome.verdicts),
            TWO: on_two_nodes(tools, f"{TWO}, {load} load", plan, outcome.verdicts),
        }


def added(one: dict[str, float], two: dict[str, float]) -> dict[str, float]:
    """What two nodes add to the latencies of one."""
    return {f"added_{key}_at_half": two[key] - value for key, value in one.items() if key in two}


def on_one_node(tools: Tools, name: str, plan: Talk, verdicts: list[dict]) -> Talked:
    with alone(tools.throng, Stage(plan.users)) as nodes:
        return talk(tools, name, plan, nodes, verdicts)


def on_two_nodes(tools: Tools, name: str, plan: Talk, verdicts: list[dict]) -> Talked:
    with redis.running() as server, cluster(tools.throng, Stage(plan.users), server, 2) as nodes:
        return talk(tools, name, plan, nodes, verdicts)


def full_load(tools: Tools, plan: Talk) -> float:
    """Messages per second, a step below the most. At the most a node is about to fall behind: what it carries once it does
    not carry each time, and the latency is that of its queue."""
    return most_that_is_carried(tools, plan) / STEP


def most_that_is_carried(tools: Tools, plan: Talk) -> float:
    """Messages per second of the greatest load of a series that one node carries, and two do, each with Stampede on this
    machine. What only two carry would compare them with a node that is behind."""

    def reached(rate: float) -> float:
        # At the limit Stampede waits for a processor as everybody else does: whether such a run is valid is told of those
        # from which figures are taken.
        name = f"{rate:.0f} messages a second"
        return min(carried(play(tools, name, plan.at(rate), [])) for play in (on_one_node, on_two_nodes))

    found = max_of(reached, plan.messages_per_second, STEP, on_time=0.95)
    if not found:
        raise RuntimeError(f"one node and two nodes cannot carry {plan.messages_per_second:,.0f} messages a second each here")
    return found


def carried(played: Talked) -> float:
    """Messages per second; 0 where some were lost or late."""
    in_time = not played.faults and played.latency_ms["latency_ms_p99"] < CARRIED_P99_MS
    return played.figures["messages_per_second"] if in_time else 0.0
