"""Says whether a result has the form that its schema describes. Only tests and small forms of a run ask: what they need
must not keep a machine from measuring."""

import json
from pathlib import Path

from runner.filed import SCHEMA
from runner.results import text_of


class NoLibrary(ImportError):
    """The library that reads schemas is not there."""


def complaints(data: dict, schema: Path = SCHEMA) -> list[str]:
    """What is wrong, with the places; of `data` as it will be read again."""
    try:
        import jsonschema
    except ImportError as error:
        remedy = "`make deps` installs it on Debian, `pip install jsonschema` elsewhere"
        raise NoLibrary(f"python3-jsonschema is missing: {remedy}") from error
    described = json.loads(schema.read_text())
    jsonschema.Draft202012Validator.check_schema(described)
    errors = jsonschema.Draft202012Validator(described).iter_errors(json.loads(text_of(data)))
    return [f"result file, {'/'.join(map(str, error.path)) or 'top'}: {error.message}" for error in errors]
