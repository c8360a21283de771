"""Messages that are acknowledged when they are stored for good: at the store's interface and through channels, by one and by
many, beside a bare loop on the same disk; and on PostgreSQL, beside bare clients of it."""

import contextlib
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from runner.cluster.nodes import Stage
from runner.messenger import pgbench, postgres
from runner.messenger.house import open_house
from runner.play import PATIENCE_S, playing, wrong
from runner.samples import Measurement
from runner.trials import Outcome, Tools

BARE, BARE_AGAIN = "bare loop", "bare loop, again"
STORE_ONE, STORE_MANY = "store, one sender", "store, many senders"
CHANNELS_ONE, CHANNELS_MANY = "channels, one sender", "channels, many senders"
CHANNELS_PACED = "channels, many senders, so many a second"
BARE_CLIENT, POSTGRES_MANY = "bare client, messages, pipelined", "PostgreSQL store, many senders"
POSTGRES_ONE = "PostgreSQL store, one sender"
# Of rows that the database makes up itself: a row of text, and all the rows of a message.
BARE_TEXTS, BARE_TEXT_EACH = "pgbench, texts, pipelined", "pgbench, texts, a commit each"
BARE_ROWS, BARE_EACH = "pgbench, messages, pipelined", "pgbench, messages, a commit each"

# What the program calls them.
OF_PROGRAM = {"bare loop": BARE, "bare loop, again": BARE_AGAIN, "one sender": STORE_ONE, "many senders": STORE_MANY}


@dataclass(frozen=True)
class Durable:
    """SQLite, with its search index on, as it always is."""

    name: str
    senders: int
    messages: int
    seconds: float
    # What those say a second together who wait for their beat as well: less than the most, beyond which latency is a queue's.
    paced_per_second: int
    subjects: tuple = (BARE, BARE_AGAIN, STORE_ONE, STORE_MANY, CHANNELS_ONE, CHANNELS_MANY, CHANNELS_PACED)

    @property
    def connections(self) -> int:
        return self.senders

    def repeats(self, wanted: int) -> int:
        return wanted

    def measure(self, tools: Tools) -> Outcome:
        outcome = Outcome({})
        for measured in of_program(tools, "--messages", self.messages, "--senders", self.senders):
            outcome.by_subject[OF_PROGRAM[measured["what"]]] = Measurement(figures(measured), [])
        one = {"users": 2, "talkers": 1}
        many = {"users": self.senders, "talkers": self.senders}
        paced = many | {"beat": f"{1_000_000 * self.senders // self.paced_per_second}us"}
        for subject, people in ((CHANNELS_ONE, one), (CHANNELS_MANY, many), (CHANNELS_PACED, paced)):
            outcome.by_subject[subject] = self._by_channels(tools, subject, people, outcome.verdicts)
        return outcome

    def _by_channels(self, tools: Tools, subject: str, people: dict, verdicts: list) -> Measurement:
        users = people["users"]
        with open_house(tools, Stage(users, single_shard=False), users, rooms=1) as house:
            stored_before = house.stored()
            values = house.values | people | {"seconds": f"{self.seconds}s", "drain": "300ms"}
            with playing(tools.stampede, subject, "messenger-pairs", values, verdicts) as play:
                summary = play.summary(self.seconds + 2 * PATIENCE_S)
            stored = house.stored() - stored_before
        found = of_pairs(summary, stored)
        if found.values:
            found.values["messages_per_second"] = found.values["messages"] / self.seconds
        return found


@dataclass(frozen=True)
class OnPostgres:
    name: str
    senders: int
    messages: int
    seconds: float
    # A server for each: what one wrote makes the other's tables larger. Counts alone need one, and to start a server is
    # most of a small run.
    servers_apart: bool = True
    subjects: tuple = (BARE_TEXT_EACH, BARE_TEXTS, BARE_EACH, BARE_ROWS, BARE_CLIENT, POSTGRES_ONE, POSTGRES_MANY)
    connections: int = 1

    def repeats(self, wanted: int) -> int:
        return wanted

    def measure(self, tools: Tools) -> Outcome:
        with contextlib.ExitStack() as stack:
            shared = None if self.servers_apart else stack.enter_context(postgres.running())
            of_store, of_store_stored = self._of_program(tools, shared)
            [bare_client], bare_stored = self._of_program(tools, shared, "--bare")
            rates = self._of_pgbench(tools, shared)
        found = {name: Measurement({"messages_per_second": rate}, []) for name, rate in rates.items()}
        one_sender, many_senders = of_store
        for subject, measured, community, stored in (
            (POSTGRES_ONE, one_sender, "one-postgres", of_store_stored),
            (POSTGRES_MANY, many_senders, "many-postgres", of_store_stored),
            (BARE_CLIENT, bare_client, "bare", bare_stored),
        ):
            found[subject] = Measurement(figures(measured), amiss(measured["messages"], stored.get(community, 0)))
        return Outcome({subject: found[subject] for subject in self.subjects})

    def _of_program(self, tools: Tools, shared: postgres.Postgres | None, *more: str) -> tuple[list[dict], dict[str, int]]:
        """What the program measured, and how many messages the database has of each community then."""
        with _server(shared) as server:
            numbers = ("--messages", self.messages, "--senders", self.senders)
            measured = of_program(tools, *numbers, "--postgres", server.url, *more)
            return measured, server.messages_by_community()

    def _of_pgbench(self, tools: Tools, shared: postgres.Postgres | None) -> dict[str, float]:
        with _server(shared) as server, tempfile.TemporaryDirectory(prefix="pgbench-") as folder:
            if shared is None:
                of_program(tools, "--messages", 2, "--senders", 2, "--postgres", server.url)  # it makes the tables
            bare = {
                # As many as the store has waiting while it commits, at most.
                (BARE_ROWS, self.senders): pgbench.messages_per_second,
                (BARE_EACH, 1): pgbench.messages_per_second,
                (BARE_TEXTS, self.senders): pgbench.inserts_per_second,
                (BARE_TEXT_EACH, 1): pgbench.inserts_per_second,
            }
            return {name: rate(server, many, self.seconds, Path(folder)) for (name, many), rate in bare.items()}


def _server(shared: postgres.Postgres | None):
    return postgres.running() if shared is None else contextlib.nullcontext(shared)


def of_pairs(summary: dict, stored: int) -> Measurement:
    """What a run of messenger-pairs came to, whose people's messages are so many in the file now."""
    said = [one["spread"] for one in summary["times"]["labelled"] if one["label"] == "say"]
    faults = wrong(summary, "users_failed", "errors")
    if not said:
        return Measurement({}, [*faults, "nothing was acknowledged"])
    [acks] = said
    if stored < acks["count"]:
        faults.append(f"{acks['count']:,} messages were acknowledged, but {stored:,} are stored")
    found = {"messages": acks["count"], "stored": stored}
    found |= {f"ack_ms_{part}": acks[f"{part}_us"] / 1000 for part in ("p50", "p99", "max")}
    return Measurement(found | {"invalid_runs": float(not summary["verdict"]["valid"])}, faults)


def amiss(acknowledged: int, stored: int) -> list[str]:
    """What is wrong where messages were acknowledged that the database does not have, or the other way round."""
    return [] if stored == acknowledged else [f"{acknowledged:,} messages were acknowledged, but {stored:,} are stored"]


def of_program(tools: Tools, *arguments) -> list[dict]:
    """What `durable` of crates/store measured, a line each."""
    command = [tools.example("durable"), *arguments]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def figures(measured: dict) -> dict[str, float]:
    return {name: measured[name] for name in ("messages_per_second", "ack_ms_p50", "ack_ms_p99", "messages")}
