"""The competition's report as one page, readable without a network."""

import html

from runner.competition.facts import HOW, TEST_NOTE, Facts, headed, machine_lines, pictures, standings
from runner.competition.markup import inline
from runner.competition.tables import entrant_table, main_table, test_tables, then
from runner.samples import Samples

PAGE_STYLE = """
:root{color-scheme:light dark;--text:#1f2933;--page:#fff;--line:#cbd2d9;--soft:#52606d}
@media (prefers-color-scheme:dark){:root{--text:#e4e7eb;--page:#15191e;--line:#3e4c59;--soft:#9aa5b1}}
body{margin:2rem auto;max-width:72rem;padding:0 1rem;font:15px/1.5 system-ui,sans-serif;color:var(--text);
background:var(--page)}
h1,h2{line-height:1.2}h2{margin-top:2.5rem}.source{color:var(--soft)}
.table{overflow-x:auto}table{border-collapse:collapse;font-size:13px}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
small{color:var(--soft);white-space:nowrap}
th.figure,td.figure{text-align:right;font-variant-numeric:tabular-nums}
figure{margin:1.5rem 0}figure svg{width:100%;max-width:860px;height:auto}
"""

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The competition</title>
<style>{style}</style>
<body>
{body}
</body>
</html>
"""


def page(samples: Samples, facts: Facts) -> str:
    """One file, readable without a network."""
    parts = ["<h1>The competition</h1>", _html_list(machine_lines(facts))]
    parts += [f"<p>{inline(text)}</p>" for text in HOW]
    parts += [main_table(samples, facts.entrants).html()]
    if told := standings(samples, facts):
        parts += ["<h2>Throng's position</h2>", _html_list(told)]
    parts += ["<h2>Pictures</h2>", *(f"<figure>{picture}</figure>" for picture in pictures(samples, facts).values())]
    for name, table in test_tables(samples, facts.entrants).items():
        parts += [f"<h2>{html.escape(headed(name, facts))}</h2>", f"<p>{inline(TEST_NOTE)}</p>", table.html()]
        parts += [f"<p class=source>2012: {html.escape(then()['source'])}</p>"]
    parts += ["<h2>Participants</h2>", entrant_table(facts.entrants).html()]
    if facts.missing:
        parts += ["<h2>Skipped</h2>", _html_list([f"{name}: {why}" for name, why in facts.missing.items()])]
    parts += ["<h2>Faults</h2>", _html_list(samples.faults or ["None: all counts are correct."])]
    return PAGE.format(style=PAGE_STYLE, body="\n".join(parts))


def _html_list(lines: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{inline(line)}</li>' for line in lines)}</ul>"
