"""What a soak comes to: slopes with their errors, counts, a picture."""

from dataclasses import asdict, dataclass
from pathlib import Path

from runner import results, version
from runner.competition.markup import Table
from runner.report import now
from runner.soak import chart, slope
from runner.soak.slope import Slope
from runner.soak.watch import Reading

MIB = 1024 * 1024
HOUR_S = 3600

ASSUMPTIONS = (
    "The slope is that of a least-squares line through the means of blocks of readings after the warm-up. Its error is half "
    "of the 95 % confidence interval of Student's t-distribution, widened for the remaining correlation of neighbouring "
    "blocks (as of a first-order process). It assumes a constant load. A cache or an allocator that is still filling looks "
    "like growth; the picture or a longer soak shows the difference."
)

# A shorter soak checks counts, and says nothing of a slope.
SECONDS = 600

# What must have happened, by what it is called in a summary.
DONE = ("joins", "sent", "delivered", "http", "received")


@dataclass(frozen=True)
class Soaked:
    """What was seen."""

    before: Reading
    readings: list[Reading]
    after: Reading
    summary: dict
    failed_readings: list[str]
    descriptors_spare: int


@dataclass(frozen=True)
class Facts:
    """What is known of a run besides."""

    command: str
    machine: dict[str, str]
    settings_changed: dict[str, tuple[int, int]]
    seconds: int
    users: int
    warm_up_s: int


def judged(soaked: Soaked, facts: Facts) -> list[Reading]:
    """The readings after the warm-up and before people leave for good."""
    return [r for r in soaked.readings if facts.warm_up_s <= r.second <= facts.seconds]


def slopes(soaked: Soaked, facts: Facts) -> dict[str, Slope | None]:
    """Of the resident set, of each component of memory that is not nothing, and of descriptors."""
    readings = judged(soaked, facts)
    seconds = [r.second for r in readings]
    columns = {"resident memory": [float(r.rss_bytes) for r in readings]}
    names = dict.fromkeys(name for r in readings for name in r.components)
    columns |= {f"component {name}": [r.components.get(name, 0.0) for r in readings] for name in names}
    columns |= {"descriptors": [float(r.descriptors) for r in readings]}
    return {name: slope.of(seconds, values) for name, values in columns.items() if any(values)}


def verdict(found: Slope | None) -> str:
    """Of the resident memory."""
    if found is None:
        return "too short to tell whether memory grows"
    per_hour, error = found.per_second * HOUR_S / MIB, found.error * HOUR_S / MIB
    told = f"{per_hour:+.2f} ± {error:.2f} MiB per hour"
    if found.is_within_error:
        return f"no growth within the error: {told}"
    return f"memory {'grows' if per_hour > 0 else 'shrinks'}: {told}"


def faults(soaked: Soaked) -> list[str]:
    """What is wrong with the counts."""
    counts = soaked.summary["counts"]
    wrong = [f"{counts[name]} {name.replace('_', ' ')}" for name in ("lost", "duplicates", "errors") if counts[name]]
    wrong += [f"no {name}" for name in DONE if not counts[name]]
    if soaked.failed_readings:
        wrong.append(f"{len(soaked.failed_readings)} readings failed: {soaked.failed_readings[0]}")
    if soaked.after.connections:
        wrong.append(f"{soaked.after.connections:.0f} connections are left after all users have left")
    more = soaked.after.descriptors - soaked.before.descriptors
    if more > soaked.descriptors_spare:
        wrong.append(f"{more} more descriptors than before the first user")
    return wrong


def data(soaked: Soaked, facts: Facts) -> dict:
    """To compare."""
    found = slopes(soaked, facts)
    last = (judged(soaked, facts) or [soaked.after])[-1]
    said = soaked.summary["verdict"]
    growth = [_growth(name, one, said["valid"]) for name, one in found.items() if one is not None]
    return results.document(
        "soak",
        date=f"{now():%Y-%m-%d %H:%M UTC}",
        command=facts.command,
        machine=facts.machine,
        settings_changed=facts.settings_changed,
        missing={},
        smoke=facts.seconds < SECONDS,
        measurements=[_figure("rss_bytes", last.rss_bytes, said["valid"]), *growth],
        verdicts=[results.verdict("soak", said)],
        faults=faults(soaked),
        details={
            "seconds": facts.seconds,
            "users": facts.users,
            "warm_up_s": facts.warm_up_s,
            "verdict": verdict(found["resident memory"]),
            "slopes": {name: one and asdict(one) | {"is_within_error": one.is_within_error} for name, one in found.items()},
            "counts": soaked.summary["counts"],
            "before": asdict(soaked.before),
            "after": asdict(soaked.after),
        },
    )


def markdown(soaked: Soaked, facts: Facts, picture: str | None) -> str:
    """To read."""
    found = slopes(soaked, facts)
    lines = [f"# {facts.users:,} users for {facts.seconds} s", "", f"**{verdict(found['resident memory'])}**", ""]
    lines += [f"- {now():%Y-%m-%d %H:%M UTC}", f"- version: {version.of_the_workspace()}, {version.commit()}"]
    lines += [f"- command: `{facts.command}`", *(f"- {name}: {value}" for name, value in facts.machine.items())]
    lines += [f"- kernel setting {name}: {old} → {new}" for name, (old, new) in facts.settings_changed.items()]
    lines += ["", ASSUMPTIONS, "", f"![Resident memory]({picture})"] if picture else ["", ASSUMPTIONS]
    lines += ["", "## Memory and descriptors", "", *_table(soaked, facts, found).markdown()]
    lines += ["", "## Counts", "", *_done(soaked)]
    wrong = faults(soaked)
    told = [f"- {fault}" for fault in wrong] or ["None: all counts are correct."]
    lines += ["", "## Faults", "", *told]
    return "\n".join(lines) + "\n"


def write(soaked: Soaked, facts: Facts, document: dict, folder: Path) -> Path:
    """All files; the path of the readable one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "soak.json").write_text(results.text_of(document))
    readings = soaked.readings
    columns = [r.second for r in readings], [float(r.rss_bytes) for r in readings]
    picture = chart.draw("Resident memory", *columns, facts.warm_up_s, slopes(soaked, facts)["resident memory"])
    (folder / "soak.svg").write_text(picture)
    rows = ["second,rss_bytes,descriptors,connections"]
    rows += [f"{r.second:.2f},{r.rss_bytes},{r.descriptors},{r.connections:.0f}" for r in readings]
    (folder / "soak.csv").write_text("\n".join(rows) + "\n")
    readable = folder / "soak.md"
    readable.write_text(markdown(soaked, facts, "soak.svg"))
    return readable


def _table(soaked: Soaked, facts: Facts, found: dict[str, Slope | None]) -> Table:
    table = Table(["", "before the first user", "after the warm-up", "at the end", "after the last user", "change per hour"])
    readings = judged(soaked, facts) or [soaked.before]
    moments = (soaked.before, readings[0], readings[-1], soaked.after)
    for name, one in found.items():
        table.rows.append([name, *(_value(name, moment) for moment in moments), _hourly(name, one)])
    return table


def _value(name: str, reading: Reading) -> str:
    if name == "descriptors":
        return f"{reading.descriptors:,}"
    if name == "resident memory":
        return f"{reading.rss_bytes / MIB:.2f} MiB"
    return f"{reading.components.get(name.removeprefix('component '), 0) / MIB:.2f} MiB"


def _hourly(name: str, one: Slope | None) -> str:
    if one is None:
        return "too short"
    scale, unit = (HOUR_S, "") if name == "descriptors" else (HOUR_S / MIB, " MiB")
    told = f"{one.per_second * scale:+.2f} ± {one.error * scale:.2f}{unit}"
    return told if one.is_within_error else f"**{told}**"


def _done(soaked: Soaked) -> list[str]:
    counts = soaked.summary["counts"]
    names = ("users", "connects", "joins", "sent", "delivered", "in_flight", "lost", "late", "duplicates", "http")
    lines = [f"- {name.replace('_', ' ')}: {counts[name]:,}" for name in (*names, "errors")]
    generator = soaked.summary["verdict"]
    lines += [f"- Stampede's verdict on the run: {'VALID' if generator['valid'] else 'INVALID'}"]
    return lines + [f"  - {reason}" for reason in generator["reasons"]]


def _growth(name: str, one: Slope, valid: bool) -> dict:
    """In the form that all results have; its spread is its error."""
    unit = "" if name == "descriptors" else "_bytes"
    value, error = one.per_second * HOUR_S, one.error * HOUR_S
    figure = _figure(f"{name.replace(' ', '_')}_growth{unit}_per_hour", value, valid)
    return figure | {"least": value - error, "greatest": value + error}


def _figure(name: str, value: float, valid: bool) -> dict:
    return results.measurement("soak", "throng", name, [value], valid)
