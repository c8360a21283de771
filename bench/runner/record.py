"""The record: as many people as the machine holds in one room, and what they get there.

Three runs, one after the other: the floor and Throng with the same bare client, which gives the ratios; then Throng with
Stampede, which judges every message, while two people talk in a room of their own.
"""

import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner import metrics, processes, stampede, talk
from runner.driver import Driver
from runner.servers import Floor, Running, Throng
from runner.watch import Row, Watch

PATIENCE_S = 1200
# Longer than any timeout of those who connect and join.
STALLED_S = 90
# The two who talk; each joins the lobby and their own room.
PAIR = 2

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"


@dataclass(frozen=True)
class Plan:
    """How many, how fast, how long."""

    crowd: int = 2_000_000
    cut: int = 100_000
    # Less than the machine takes when it is nearly full and its hypervisor gives a part of it to others, or the time of a
    # join would be that of its queue: 6,000 a second take 1.5 of two cores, server and Stampede together. How fast clients can
    # connect is measured with the bare client.
    rate: int = 4_000
    broadcasts: int = 3
    # How often the bare client's threads read. A hundred threads that wait for messages on the server's own processors would
    # be woken for each or for a few, as often as the scheduler lets them run, which depends on how many of the server's are
    # running: what that costs says nothing about a server whose clients are elsewhere.
    read_every_ms: int = 10
    # Longer than a broadcast takes: the next one is not to begin before its end.
    between_s: int = 90
    calm_s: int = 20
    more: int = 1_000_000
    leave_bytes: int = 1_500_000_000
    single_shard: bool = False
    exchange: str = "broadcast"

    @property
    def stir(self) -> float:
        """Messages in half a second: fewer than of a broadcast, more than the two who talk get."""
        return max(self.crowd * 0.002, 1000)

    @property
    def connections(self) -> int:
        return self.crowd + self.more + PAIR

    def smaller(self, scale: int) -> "Plan":
        rate = lambda rate: min(max(rate * 10 // scale, 500), rate)  # noqa: E731
        return replace(
            self,
            crowd=self.crowd // scale,
            cut=self.cut // scale,
            rate=rate(self.rate),
            between_s=3 + self.between_s // scale,
            calm_s=3,
            more=self.more // scale,
        )


@dataclass
class Record:
    """What Throng and Stampede did, seen from outside."""

    rows: list[Row]
    failed_scrapes: list[str]
    moments: dict[str, float]
    broadcasts: list[tuple[Row, Row]]
    pair: list[talk.Delivery]
    # Of the crowd, of the two who talk, and of those who came last, if any did.
    summary: dict
    pair_summary: dict
    more_summary: dict | None
    run: Path
    most: int
    stopped_by: str
    # The server's metrics when all had joined.
    page: str
    # Looks at the machine that failed because a process had just ended.
    failed_looks: list[str] = field(default_factory=list)


def bare(plan: Plan, server: Floor | Throng, driver: Driver) -> dict:
    """The same crowd and the same broadcasts with the bare client, which looks at no byte more than it must."""
    crowd = ("--receivers", plan.crowd, "--rounds", plan.broadcasts, "--read-every-ms", plan.read_every_ms)
    with server.start(plan) as running:
        return driver.run(running, "broadcast", *crowd)


def play(plan: Plan, throng: Throng, binary: Path, folder: Path) -> Record:
    """Lets the crowd come, hear, be cut, come back, and grow until the machine is full."""
    with throng.start(plan) as server, Watch([server]) as watch:
        with _main_run(plan, server, binary, folder / "crowd") as crowd:
            watch.generators.append(crowd.pid)
            record = _follow(plan, server, binary, folder, watch, crowd)
        record.run = stampede.only_run(folder / "crowd")
        record.summary = stampede.summary(record.run)
        record.rows, record.failed_scrapes, record.failed_looks = watch.rows, watch.failed_scrapes, watch.failed_looks
        for why in watch.failed_scrapes:
            _tell(f"a scrape failed, {why}")
    return record


def _follow(
    plan: Plan, server: Running, binary: Path, folder: Path, watch: Watch, crowd: subprocess.Popen
) -> Record:
    alive = lambda: crowd.poll() is None  # noqa: E731
    moments = {"begin": watch.until("the first row", lambda _: True, PATIENCE_S).at_s}
    _tell("clients are connecting")
    here = watch.until(f"{plan.crowd} joins", all_are_here(plan), PATIENCE_S, alive)
    moments["joined"] = here.at_s
    page = metrics.text(server.metrics_url)
    _tell(f"{here.joined:,.0f} clients have joined after {here.at_s - moments['begin']:.0f} s; broadcasts follow")
    with _pair_run(server, binary, folder / "pair") as pair:
        alive = lambda: crowd.poll() is None and pair.poll() is None  # noqa: E731
        broadcasts = [_broadcast(plan, watch, alive) for _ in range(plan.broadcasts)]
        _tell("disconnecting and reconnecting clients")
        everybody = plan.crowd + PAIR
        cut = watch.until("the cut", lambda row: row.connections < everybody, PATIENCE_S, alive)
        clean = watch.until("its end", lambda row: row.connections <= everybody - plan.cut, PATIENCE_S, alive)
        storm = watch.until("the storm", lambda row: row.connections > everybody - plan.cut, PATIENCE_S, alive)
        back = watch.until("its end", lambda row: row.joined >= plan.crowd + 2 * PAIR, PATIENCE_S, alive)
        moments |= {"cut": cut.at_s, "clean": clean.at_s, "storm": storm.at_s, "back": back.at_s}
        _settle(plan, watch, alive)
        moments["quiet"] = watch.rows[-1].at_s
        processes.end(pair, signal.SIGINT)
    alive = lambda: crowd.poll() is None  # noqa: E731
    most, stopped_by = _as_many_as_fit(plan, server, binary, folder / "more", watch, alive)
    moments["most"] = max(watch.rows, key=lambda row: row.connections).at_s
    pair_run = stampede.only_run(folder / "pair")
    return Record(
        rows=[],
        failed_scrapes=[],
        moments=moments,
        broadcasts=broadcasts,
        pair=talk.read(pair_run),
        summary={},
        pair_summary=stampede.summary(pair_run),
        more_summary=stampede.summary(stampede.only_run(folder / "more")) if plan.more else None,
        run=folder,
        most=most,
        stopped_by=stopped_by,
        page=page,
    )


def all_are_here(plan: Plan):
    """Whether all have joined. An error when nobody has joined for so long that somebody must have failed: the others would
    wait for them, and the run would never end."""
    most, since_s = 0.0, None

    def are_here(row: Row) -> bool:
        nonlocal most, since_s
        if row.joined > most or since_s is None:
            most, since_s = row.joined, row.at_s
        if row.joined < plan.crowd and most and row.at_s - since_s > STALLED_S:
            raise TimeoutError(
                f"{row.joined:,.0f} of {plan.crowd:,} have joined, and nobody else for {STALLED_S} s: the others have failed. "
                "Something else may be using this machine: try again when it is quiet"
            )
        return row.joined >= plan.crowd

    return are_here


def _broadcast(plan: Plan, watch: Watch, alive) -> tuple[Row, Row]:
    """The last row before the next broadcast, and the first after it."""
    # Two rows back: a broadcast may begin within one.
    before = earlier = last = watch.rows[-1]

    def begun(row: Row) -> bool:
        nonlocal before, earlier
        if row.messages_out - before.messages_out > plan.stir:
            return True
        before, earlier = earlier, row
        return False

    def ended(row: Row) -> bool:
        nonlocal last
        is_calm = row.messages_out - last.messages_out < plan.stir
        last = row
        return is_calm and row.messages_out - before.messages_out >= plan.crowd

    watch.until("a broadcast", begun, PATIENCE_S, alive)
    end = watch.until("the end of a broadcast", ended, PATIENCE_S, alive)
    _tell(f"the server needed {end.at_s - before.at_s:.1f} s")
    return before, end


def _settle(plan: Plan, watch: Watch, alive) -> None:
    begin = watch.rows[-1].at_s
    watch.until("quiet", lambda row: row.at_s > begin + plan.calm_s / 2, PATIENCE_S, alive)


def _as_many_as_fit(plan: Plan, server: Running, binary: Path, folder: Path, watch: Watch, alive) -> tuple[int, str]:
    """More and more people until the memory that must be left is reached, or nobody more gets in."""
    if not plan.more:
        return int(max(row.connections for row in watch.rows)), "no further clients were requested"
    _tell(f"further clients connect, until {plan.leave_bytes / 1e9:.1f} GB of memory are left")
    variables = {"users": plan.more, "rate": f"{plan.rate}/s", "heartbeat": "never"}
    with _stampede(binary, "phoenix-lobby", variables, server, folder, "127.2.0.0/24") as more:
        watch.generators.append(more.pid)
        full = plan.crowd + plan.more
        is_over = lambda row: row.available_bytes < plan.leave_bytes or row.connections >= full  # noqa: E731
        row = watch.until("a full machine", is_over, PATIENCE_S, lambda: alive() and more.poll() is None)
        why = "memory" if row.available_bytes < plan.leave_bytes else "all requested clients had connected"
        processes.end(more, signal.SIGINT, PATIENCE_S)
    return int(max(row.connections for row in watch.rows)), why


def _main_run(plan: Plan, server: Running, binary: Path, folder: Path):
    variables = {
        "stayers": plan.crowd - plan.cut - 1,  # and the conductor
        "restless": plan.cut,
        "crowd": plan.crowd,
        "cut": plan.cut + 1,
        "rate": f"{plan.rate}/s",
        "broadcasts": plan.broadcasts,
        "between": f"{plan.between_s}s",
        "calm": f"{plan.calm_s}s",
    }
    return _stampede(binary, "record", variables, server, folder, "127.1.0.0/24")


def _pair_run(server: Running, binary: Path, folder: Path):
    return _stampede(binary, "record-pair", {}, server, folder, "127.3.0.1", event_log="csv", short_turns=True)


def _stampede(
    binary: Path,
    scenario: str,
    variables: dict,
    server: Running,
    folder: Path,
    source: str,
    event_log: str = "none",
    short_turns: bool = False,
) -> AbstractContextManager[subprocess.Popen]:
    """A run of Stampede; SIGINT ends it, and then it writes its folder."""
    command = [binary, "run", SCENARIOS / f"{scenario}.yaml", "--source", source, "--out", folder]
    command += ["--event-log", event_log, "--scrape", server.metrics_url, "--pid", server.pid]
    for name, value in ({"target": f"ws://{server.address}"} | variables).items():
        command += ["--set", f"{name}={value}"]
    return stampede.started(command, folder, short_turns=short_turns)


def _tell(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)
