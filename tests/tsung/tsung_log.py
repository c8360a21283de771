"""Reads `tsung.log`: the counters that Tsung dumps every ten seconds."""

import re

DUMP = re.compile(r"^# stats: dump at (\d+)")
# A counter is `stats: name delta total`; samples have seven numbers, host figures a braced name.
COUNTER = re.compile(r"^stats: (\w+) (-?\d+) (-?\d+)$")
SAMPLE = re.compile(r"^stats: (\w+) (\S+) (\S+) (\S+) (\S+) (\S+) (\S+) (\S+)$")


class Dump:
    """One dump: counters' totals by name, and the shortest sample of each kind, in milliseconds."""

    def __init__(self):
        self.totals = {}
        self.shortest_ms = {}

    def total(self, name):
        return self.totals.get(name, 0)


def parse(text):
    """The dumps in the order of time. A counter that a dump leaves out keeps its former total."""
    dumps = []
    for line in text.splitlines():
        if DUMP.match(line):
            following = Dump()
            if dumps:
                following.totals.update(dumps[-1].totals)
                following.shortest_ms.update(dumps[-1].shortest_ms)
            dumps.append(following)
        elif not dumps:
            continue
        elif counter := COUNTER.match(line):
            dumps[-1].totals[counter[1]] = int(counter[3])
        elif sample := SAMPLE.match(line):
            # name, count and mean of this dump, deviation, longest, shortest, former mean, former count
            dumps[-1].shortest_ms[sample[1]] = float(sample[6])
    return dumps


def complaints(dumps, users, session_ms):
    """What is wrong with a run of `users` users whose sessions last `session_ms` or more."""
    if not dumps:
        return ["the log holds no dump"]
    last = dumps[-1]
    found = [
        f"{name} is {last.total(name)}, not {expected}"
        for name, expected in {
            "users_count": users,
            "finish_users_count": users,
            "websocket_succ": users,
            "connected": 0,
        }.items()
        if last.total(name) != expected
    ]
    found += [f"{name}: {count}" for name, count in last.totals.items() if is_error(name) and count]
    # Between the last arrival and the first departure each user is a connection that stands.
    together = [
        dump for dump in dumps if dump.total("users_count") == users and dump.total("finish_users_count") == 0
    ]
    if not together:
        found.append("no dump shows all users at once")
    found += [
        f"only {dump.total('connected')} of {users} connected"
        for dump in together
        if dump.total("connected") != users
    ]
    shortest_ms = last.shortest_ms.get("session", 0)
    if shortest_ms < session_ms:
        found.append(f"a session ended after {shortest_ms:.0f} ms, before its {session_ms} ms were over")
    return found


def is_error(name):
    return name.startswith("error") or name == "websocket_fail"
