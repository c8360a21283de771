"""Horizontal bars as SVG: the least first or in a given order, with the spread of the repeats. No script, no font, no
address of anyone."""

import html
from dataclasses import dataclass

from runner.report import number
from runner.samples import Spread

WIDTH = 860
LABEL_WIDTH = 210
VALUE_WIDTH = 190
ROW_HEIGHT = 26
BAR_HEIGHT = 16
TITLE_HEIGHT = 34

# Grey for the yardstick, one colour for ours, one for everyone else; in the dark the text and the greys turn around.
STYLE = """
text{font:13px system-ui,sans-serif;fill:#1f2933}.title{font-weight:600;font-size:14px}.value{fill:#52606d}
.floor{fill:#9aa5b1}.ours{fill:#d9480f}.peer{fill:#3b6ea8}.spread{stroke:#1f2933;stroke-width:1.2}
@media (prefers-color-scheme:dark){text{fill:#e4e7eb}.value{fill:#9aa5b1}.floor{fill:#7b8794}.ours{fill:#ff922b}
.peer{fill:#5c9ad6}.spread{stroke:#e4e7eb}}
"""


@dataclass(frozen=True)
class Bar:
    """One server's figure."""

    label: str
    # `floor`, `ours` or `peer`.
    kind: str
    spread: Spread
    note: str = ""


def draw(title: str, bars: list[Bar], in_order: bool = False) -> str:
    """A picture that stands for itself. Bars begin at zero; the longest fills the width."""
    bars = bars if in_order else sorted(bars, key=lambda bar: bar.spread.median)
    height = TITLE_HEIGHT + ROW_HEIGHT * len(bars) + 8
    greatest = max((bar.spread.greatest for bar in bars), default=0) or 1.0
    scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / greatest
    rows = "\n".join(_row(bar, TITLE_HEIGHT + ROW_HEIGHT * index, scale) for index, bar in enumerate(bars))
    name = html.escape(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{name}">'
        f'<style>{STYLE}</style>\n<text class="title" x="0" y="18">{name}</text>\n{rows}\n</svg>\n'
    )


def _row(bar: Bar, top: int, scale: float) -> str:
    middle = top + ROW_HEIGHT / 2
    least, median, greatest = (
        LABEL_WIDTH + max(value, 0) * scale for value in (bar.spread.least, bar.spread.median, bar.spread.greatest)
    )
    note = f"{number(bar.spread.median)}{f' · {bar.note}' if bar.note else ''}"
    return (
        f'<text x="{LABEL_WIDTH - 8}" y="{middle + 4:.1f}" text-anchor="end">{html.escape(bar.label)}</text>'
        f'<rect class="{bar.kind}" x="{LABEL_WIDTH}" y="{middle - BAR_HEIGHT / 2:.1f}" '
        f'width="{max(median - LABEL_WIDTH, 1):.1f}" height="{BAR_HEIGHT}" rx="2"/>'
        f'<line class="spread" x1="{least:.1f}" x2="{greatest:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
        f'<text class="value" x="{greatest + 8:.1f}" y="{middle + 4:.1f}">{html.escape(note)}</text>'
    )
