"""Memory over time as SVG, with the line that fits it. No script, no font, no address of anyone."""

import html
from collections.abc import Callable

from runner.soak.slope import Slope

WIDTH, HEIGHT = 860, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 14, 34, 30
MIB = 1024 * 1024

STYLE = """
text{font:12px system-ui,sans-serif;fill:#1f2933}.title{font-weight:600;font-size:14px}.grid{stroke:#cbd2d9}
.line{fill:none;stroke:#3b6ea8;stroke-width:1.4}.fit{stroke:#d9480f;stroke-width:1.6;stroke-dasharray:6 4}
.warm{fill:#9aa5b1;opacity:.18}
@media (prefers-color-scheme:dark){text{fill:#e4e7eb}.grid{stroke:#3e4c59}.line{stroke:#5c9ad6}.fit{stroke:#ff922b}}
"""


def draw(title: str, seconds: list[float], values: list[float], warm_up_s: float, slope: Slope | None) -> str:
    """Bytes over seconds, from zero, so that little looks little; grey is what was not judged."""
    if not seconds:
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"/>\n'
    end, top = max(seconds[-1], 1e-9), max(values) * 1.1 or 1.0
    across = lambda second: LEFT + (WIDTH - LEFT - RIGHT) * min(second / end, 1)  # noqa: E731
    up = lambda value: HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top  # noqa: E731
    points = " ".join(f"{across(second):.1f},{up(value):.1f}" for second, value in zip(seconds, values))
    grid = "".join(_mark(top * part / 4, up) for part in range(5))
    name = html.escape(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}">'
        f'<style>{STYLE}</style>\n<text class="title" x="0" y="18">{name}</text>\n{grid}\n'
        f'<rect class="warm" x="{LEFT}" y="{TOP}" width="{across(warm_up_s) - LEFT:.1f}" '
        f'height="{HEIGHT - TOP - BOTTOM}"/>'
        f'<polyline class="line" points="{points}"/>{_fit(seconds, values, warm_up_s, slope, across, up)}\n'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" text-anchor="end">{end:.0f} s</text>\n</svg>\n'
    )


def _mark(value: float, up: Callable[[float], float]) -> str:
    y = up(value)
    return (
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value / MIB:.1f} MiB</text>'
    )


def _fit(
    seconds: list[float],
    values: list[float],
    warm_up_s: float,
    slope: Slope | None,
    across: Callable[[float], float],
    up: Callable[[float], float],
) -> str:
    judged = [(second, value) for second, value in zip(seconds, values) if second >= warm_up_s]
    if slope is None or not judged:
        return ""
    middle = sum(second for second, _ in judged) / len(judged)
    mean = sum(value for _, value in judged) / len(judged)
    at = lambda second: mean + slope.per_second * (second - middle)  # noqa: E731
    first, last = judged[0][0], judged[-1][0]
    return (
        f'<line class="fit" x1="{across(first):.1f}" y1="{up(at(first)):.1f}" '
        f'x2="{across(last):.1f}" y2="{up(at(last)):.1f}"/>'
    )
