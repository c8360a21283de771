"""A table as Markdown and as HTML, from the same cells."""

import html
from dataclasses import dataclass, field


@dataclass
class Table:
    """A heading for each column, then rows of as many cells. Text of a cell between `**` is the best of its column."""

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
        return "".join(f"<td{self._kind(index)}>{_bold(text)}</td>" for index, text in enumerate(row))

    def _kind(self, index: int) -> str:
        return "" if index < self.words else " class=figure"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(text.replace('|', '/') for text in cells)} |"


def _bold(text: str) -> str:
    escaped = html.escape(text)
    if escaped.startswith("**") and escaped.count("**") == 2:
        best, _, rest = escaped[2:].partition("**")
        return f"<b>{best}</b>{rest}"
    return escaped
