"""What schemathesis is told of this API: ids that exist, for a part of the requests; and a record of every answer."""

import json
import os
import random
import uuid
from pathlib import Path
from typing import Any

import schemathesis

ANSWERS = Path(os.environ["API_ANSWERS"])
# What exists, by the names of parameters in paths; and what an operation is asked about instead.
KNOWN = json.loads(os.environ["API_KNOWN"])
INSTEAD = json.loads(os.environ["API_INSTEAD"])
CHANCE_OF_A_KNOWN_ID = 0.8
# For operations, bodies that name what exists.
BODIES = json.loads(os.environ["API_BODIES"])
CHANCE_OF_A_KNOWN_BODY = 0.2
# Parameters that are never made up, and headers that are never sent.
CERTAIN = set(json.loads(os.environ["API_CERTAIN"]))
UNSENT = set(json.loads(os.environ["API_UNSENT"]))
# The document's example is one key, and one caller may use it for one request.
IDEMPOTENCY_KEY = "idempotency-key"
# Nobody is there by a name that was made up; without it the caller acts as the community.
ACTING_AS = "throng-person"
CHANCE_OF_A_NEW_KEY = 0.8


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Ids that do not exist are answered 404, and a key of another request 422, which is right and says little."""
    operation = case.operation.definition.raw.get("operationId", "")
    instead = INSTEAD.get(operation, {})
    for name in case.path_parameters or {}:
        if name in instead:
            case.path_parameters[name] = instead[name]
        elif name in KNOWN and (name in CERTAIN or random.random() < CHANCE_OF_A_KNOWN_ID):
            case.path_parameters[name] = KNOWN[name]
    if operation in BODIES and isinstance(case.body, dict) and random.random() < CHANCE_OF_A_KNOWN_BODY:
        case.body = BODIES[operation]
    for name in list(case.headers or {}):
        if name.lower() in UNSENT or (name.lower() == ACTING_AS and random.random() < CHANCE_OF_A_KNOWN_ID):
            del case.headers[name]
        elif name.lower() == IDEMPOTENCY_KEY and random.random() < CHANCE_OF_A_NEW_KEY:
            case.headers[name] = str(uuid.uuid4())


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """One line for each answer."""
    row = {"operation": case.operation.definition.raw["operationId"], "status": response.status_code}
    with ANSWERS.open("a") as file:
        file.write(json.dumps(row) + "\n")
