"""The files of the competition's report: Markdown and JSON to keep, SVG pictures, and a page that holds all of it."""

from pathlib import Path

from runner import results
from runner.competition import standing
from runner.competition.entrants import Entrant
from runner.competition.facts import HOW, TEST_NOTE, Facts, headed, machine_lines, pictures, standings
from runner.competition.page import page
from runner.competition.tables import entrant_table, main_table, test_tables, then
from runner.report import dated, now
from runner.samples import Samples


def markdown(samples: Samples, facts: Facts, stem: str | None) -> str:
    """To read; `stem` is the beginning of the pictures' names, if there are any."""
    lines = ["# The competition", "", *(f"- {line}" for line in machine_lines(facts)), "", *_paragraphs(HOW)]
    lines += ["", *main_table(samples, facts.entrants).markdown()]
    lines += _listed("Throng's position", standings(samples, facts))
    for name, table in test_tables(samples, facts.entrants).items():
        lines += ["", f"## {headed(name, facts)}", "", TEST_NOTE, "", *table.markdown()]
        lines += ["", f"2012: {then()['source']}"]
    if stem:
        lines += ["", "## Pictures", ""]
        lines += [f"![{column.heading}]({stem}-{column.name}.svg)" for column in standing.measured(samples)]
    lines += ["", "## Participants", "", *entrant_table(facts.entrants).markdown()]
    lines += _listed("Skipped", [f"{name}: {reason}" for name, reason in facts.missing.items()])
    lines += _listed("Faults", samples.faults) or ["", "All counts are correct."]
    return "\n".join(lines) + "\n"


def data(samples: Samples, facts: Facts) -> dict:
    """To compare."""
    return results.document(
        "competition",
        date=facts.date or dated(),
        command=facts.command,
        machine=facts.machine,
        settings_changed=facts.settings_changed,
        missing=facts.missing,
        smoke=facts.smoke,
        measurements=results.of_samples(samples),
        faults=samples.faults,
        details={
            "entrants": [_entrant_data(entrant) for entrant in facts.entrants],
            "test_seconds": facts.test_seconds,
            "standing": standings(samples, facts),
            "c10k_2012": then(),
        },
    )


def write(samples: Samples, facts: Facts, group: str, folder: Path) -> Path:
    """All files, named by date and group; the path of the readable one."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"{now():%Y-%m-%d-%H%M}-{group}"
    stem.with_suffix(".json").write_text(results.text_of(data(samples, facts)))
    return write_told(samples, facts, stem)


def write_told(samples: Samples, facts: Facts, stem: Path) -> Path:
    """All files but the data, whose names begin so; the path of the readable one."""
    stem.with_suffix(".html").write_text(page(samples, facts))
    for name, picture in pictures(samples, facts).items():
        stem.with_name(f"{stem.name}-{name}.svg").write_text(picture)
    readable = stem.with_suffix(".md")
    readable.write_text(markdown(samples, facts, stem.name))
    return readable


def _paragraphs(texts) -> list[str]:
    return [line for text in texts for line in (text, "")][:-1]


def _listed(heading: str, lines: list[str]) -> list[str]:
    return ["", f"## {heading}", "", *(f"- {line}" for line in lines)] if lines else []


def _entrant_data(entrant: Entrant) -> dict:
    keys = ("name", "title", "language", "library", "version", "settings")
    return {key: getattr(entrant, key) for key in keys}
