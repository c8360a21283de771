"""The table of figures in README.md: the newest results of each kind, between two markers. Knows which figures stand
there and never what they are."""

from dataclasses import dataclass
from pathlib import Path

from runner import filed
from runner.filed import Filed
from runner.report import number
from runner.samples import Spread

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN = "<!-- bench/readme writes what follows -->"
END = "<!-- and no further -->"

INVALID = "†"
RATIO_MAX = 10


@dataclass(frozen=True)
class Row:
    """A figure of Throng's, beside the floor's where both have it."""

    label: str
    scenario: str
    name: str
    unit: str
    kind: str = "bench"

    def of(self, results: list[Filed]) -> tuple[str, Filed] | None:
        """The line of the table and where it comes from; nothing if it was never measured."""
        found = filed.newest(results, self.kind, self.scenario, "throng", self.name)
        if found is None:
            return None
        figure = found.measurement(self.scenario, "throng", self.name)
        mark = "" if figure["valid"] else f" {INVALID}"
        ratio = found.ratio(self.scenario, "throng", "floor", self.name)
        # Where the floor does next to nothing, as with memory, a ratio says nothing.
        beside = "" if ratio is None or ratio.median > RATIO_MAX else _times(ratio)
        return f"| {self.label} | {number(figure['median'])} {self.unit}{mark} | {beside} |".replace("  ", " "), found


ROWS = (
    Row("concurrent clients in one room, all on this machine", "the crowd", "joined_at_once", "joined", "record"),
    Row("resident memory of the server in that room, per client", "the crowd", "server_rss_bytes_per_client", "bytes", "record"),
    Row("memory per idle connection that joined a topic", "memory", "rss_bytes_per_connection", "bytes"),
    Row("broadcast to 100,000, CPU per delivery", "broadcast to 100,000", "server_cpu_us_per_delivery", "µs"),
    Row("broadcast to 100,000, time to the last receiver", "broadcast to 100,000", "last_receiver_ms_median", "ms"),
    Row("connect, upgrade and join", "connect", "connections_per_second", "per second"),
    Row("echo, 1 in flight, CPU each", "echo, 1 in flight", "server_cpu_us_per_echo", "µs"),
    Row("echo, 16 in flight, CPU each", "echo, 16 in flight", "server_cpu_us_per_echo", "µs"),
)


class NoMarkers(ValueError):
    """A text without a place for the table."""


def block(results: list[Filed], root: Path = README.parent) -> str:
    """The table with its sources."""
    found = [line for row in ROWS if (line := row.of(results))]
    lines = ["| | Throng | compared with the floor |", "|---|---|---|", *(line for line, _ in found)]
    sources = list(dict.fromkeys(source.path for _, source in found))
    by_path = {one.path: one for one in results}
    lines += ["", "Medians; × the floor's value, with minimum and maximum of the repeats. Sources:", ""]
    lines += [_source(by_path[path], root) for path in sources]
    if any(INVALID in line for line, _ in found):
        lines += ["", f"{INVALID} The run is INVALID; the result page gives the reason."]
    return "\n".join(lines)


def _times(ratio: Spread) -> str:
    return f"{ratio.median:.2f} ({ratio.least:.2f}–{ratio.greatest:.2f}) ×"


def _source(source: Filed, root: Path) -> str:
    machine = source.data["machine"]
    kernel = machine["kernel"].partition("-")[0]
    where = f"{machine['cores']} cores of {machine['model']}, {machine['memory']}, Linux {kernel}"
    link = source.page.relative_to(root)
    return f"- [{source.data['date']}]({link}): `{source.data['command']}`, {where}"


def with_block(text: str, inner: str) -> str:
    """`text` with `inner` between the markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise NoMarkers(f"no line `{BEGIN}` with `{END}` below it")
    return f"{before}{BEGIN}\n\n{inner}\n\n{END}{after}"
