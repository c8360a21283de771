"""Requests of the API, and what it answers."""

import json
import urllib.error
import urllib.request
from typing import Any

from .programs import DEADLINE_SECONDS


def ask(base: str, method: str, path: str, bearer: str, body: Any = None, person: str = "") -> Any:
    """The answer's JSON; an error of HTTP is one here, with the problem's text. A key may speak as a person, and who
    has no credentials shows none."""
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    if person:
        headers["Throng-Person"] = person
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(f"{base}/api/v1{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error
    return json.loads(text) if text else None
