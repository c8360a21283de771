"""Two communities that are alike but for their names, with something in every table: lines for `throng store import`."""

import json
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from harness.programs import DEADLINE_SECONDS, HOST, foreign_variables, throng
from harness.rest import ask
from harness.server import Server

GONE, KEPT = "gone", "kept"
SCOPES = ["send", "list", "manage_people", "manage_rooms", "moderate"]
# Of whom all of what is written by many is.
ANN = "ann"
OTHERS = ["bob", "cat", "dan"]
# Of a person who is looked for by these words everywhere.
TRACES = (ANN, "annswords", "annsfile", "annsreason")
# Further messages of hers, a step of an erasure being 200 rows.
MESSAGES = 2_000


@cache
def lines() -> str:
    """By the verbs of a server, as a site would make them; then many more messages of the same kind."""
    with tempfile.TemporaryDirectory(prefix="throng-durable-") as name:
        folder = Path(name)
        with Server(folder, "furnishing", {}) as server:
            for community in (GONE, KEPT):
                server.operate("POST", "/communities", {"id": community, "settings": {"name": community}})
                furnish(server, community)
        exported = folder / "exported"
        command(server.folder, "store", "export", str(exported))
        return "\n".join(multiplied(exported.read_text().splitlines())) + "\n"


def furnish(server: Server, community: str) -> None:
    made = server.operate("POST", f"/communities/{community}/keys", server_key())

    def act(person: str, method: str, path: str, body: Any = None) -> Any:
        base = f"http://{HOST}:{server.port}"
        return ask(base, method, f"/communities/{community}{path}", made["key"], body, person)

    act("", "POST", "/rooms", {"name": "hall", "kind": "public", "title": f"hall of {community}"})
    for person in (ANN, *OTHERS):
        act("", "PUT", f"/people/{person}", {"name": person})
        act("", "PUT", f"/conversations/room:hall/members/{person}", {})
    hall = "/conversations/room:hall"
    file = {"id": "annsfile", "name": "a", "media_type": "a/b", "bytes": 1}
    draft = {"text": f"annswords of {community}", "mentions": OTHERS, "attachments": [file]}
    first = act(ANN, "POST", f"{hall}/messages", draft)["seq"]
    act(ANN, "PATCH", f"{hall}/messages/{first}", {"text": f"annswords again of {community}"})
    his = act("bob", "POST", f"{hall}/messages", {"text": f"hers of {community}", "mentions": [ANN]})["seq"]
    for person, seq in ((ANN, his), ("cat", his), ("cat", first)):
        act(person, "PUT", f"{hall}/messages/{seq}/reactions/x")
    act(ANN, "POST", f"{hall}/messages/{his}/reports", {"reason": "annsreason"})
    act(ANN, "PUT", f"/people/{ANN}/blocks/dan")
    act("", "POST", f"{hall}/invitations", {"uses": 3})
    act("", "PUT", f"/sanctions/mute/{ANN}?conversation=room:hall", {"reason": "loud"})
    act("", "POST", f"/people/dan/revocations", {})
    direct = act(ANN, "POST", f"/people/{ANN}/direct", {"with": "bob"})["id"]
    act("bob", "POST", f"/conversations/{direct}/messages", {"text": f"between us of {community}"})


def server_key() -> dict:
    return {"name": "tests", "purpose": {"kind": "server", "scopes": SCOPES}}


def multiplied(exported: list[str]) -> list[str]:
    """With many more messages like Ann's first one, each behind the last of its conversation."""
    records = [json.loads(line) for line in exported]
    made: list[dict] = []
    for community in (GONE, KEPT):
        first = next(record for record in records if record["of"] == community and record.get("sender") == ANN)
        hall = next(record for record in records if record["of"] == community and record.get("name") == "hall")
        for _ in range(MESSAGES):
            hall["last"] += 1
            name = f"{len(made):010}{'B' * 16}"
            new = {"seq": hall["last"], "id": name, "client_id": name, "edits": 0, "edited": None, "revision": 0}
            made.append({**first, **new, "mentions": []})
    last = max(place for place, record in enumerate(records) if record["record"] == "message")
    return [json.dumps(record) for record in (*records[: last + 1], *made, *records[last + 1 :])]


def command(folder: Path, *words: str, settings: dict[str, str] | None = None) -> None:
    """A command on the store of a server that does not run."""
    environment = {**foreign_variables(), **(settings or {}), "THRONG_DATA_DIR": str(folder)}
    subprocess.run(
        [throng(), *words],
        check=True,
        env=environment,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        timeout=DEADLINE_SECONDS,
    )
