"""A table and a line of text as Markdown and as HTML, from the same words."""

import html
import re
from dataclasses import dataclass, field


@dataclass
class Table:
    """A heading for each column, then rows of as many cells. The first line of a cell is what it says, the others are
    by the way; what stands between `**` is the best of its column."""

    head: list[str]
    rows: list[list[str]] = field(default_factory=list)
    # Columns from the left that hold words; the others hold figures.
    words: int = 1

    def markdown(self) -> list[str]:
        alignment = ["---"] * self.words + ["---:"] * (len(self.head) - self.words)
        return [_line(self.head), _line(alignment), *(_line(row) for row in self.rows)]

    def html(self) -> str:
        head = "".join(f"<th{self._kind(index)}>{html.escape(text)}</th>" for index, text in enumerate(self.head))
        rows = "".join(f"<tr>{self._row(row)}</tr>\n" for row in self.rows)
        return f"<div class=table><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"

    def _row(self, row: list[str]) -> str:
        return "".join(f"<td{self._kind(index)}>{_cell(text)}</td>" for index, text in enumerate(row))

    def _kind(self, index: int) -> str:
        return "" if index < self.words else " class=figure"


def inline(text: str) -> str:
    """HTML of a text with `code` and **strong** in it."""
    marked = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\*\*([^*]*)\*\*", r"<b>\1</b>", marked)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(text.replace('|', '/').replace(chr(10), '<br>') for text in cells)} |"


def _cell(text: str) -> str:
    first, *others = map(inline, text.split("\n"))
    return first + "".join(f"<br><small>{line}</small>" for line in others)
