"""A server with a messenger that somebody has furnished: communities, rooms, and whose tokens are believed."""

import contextlib
import http.client
import json
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from runner import metrics
from runner.cluster.nodes import Stage
from runner.messenger import people
from runner.servers import Running, Throng
from runner.trials import Tools

# As crates/store names it.
STORE_FILE = "messenger.sqlite3"
FURNISH_PATIENCE_S = 1200


@dataclass(frozen=True)
class House:
    """A running server, and the file of those who may come."""

    server: Running
    people: Path

    @property
    def values(self) -> dict:
        """What every scenario of the messenger wants to know."""
        return {"target": f"ws://{self.server.address}", "community": people.COMMUNITY, "people": self.people}

    def value(self, name: str) -> float:
        return metrics.value(self.server.metrics_url, name)

    def stored(self, called: str = "") -> int:
        """Messages in the file now, of people whose names begin so."""
        with contextlib.closing(sqlite3.connect(f"file:{self.server.data_dir / STORE_FILE}?mode=ro", uri=True)) as file:
            counted = file.execute("SELECT count(*) FROM messages WHERE sender GLOB ?", (f"{called}*",))
            return counted.fetchone()[0]


def furnish(tools: Tools, folder: Path, communities: int, rooms: int, members: int, messages: int) -> None:
    """Makes a store in a folder."""
    numbers = {"communities": communities, "rooms": rooms, "people": members, "messages": messages}
    flags = [str(part) for name, value in numbers.items() for part in (f"--{name}", value)]
    subprocess.run(
        [tools.example("furnished"), folder, *flags], stdout=subprocess.DEVNULL, check=True, timeout=FURNISH_PATIENCE_S
    )


@contextlib.contextmanager
def open_house(
    tools: Tools, stage: Stage, visitors: int, rooms: int, settings: dict | None = None, history: bool = False, communities: int = 1
) -> Iterator[House]:
    """A server with communities of so many rooms, to the first of which so many may come: who have not been there, or with a
    history are members of the rooms and have said something."""
    with tempfile.TemporaryDirectory(prefix="house-") as name:
        folder = Path(name)
        known = visitors if history else 0
        furnish(tools, folder / "data", communities=communities, rooms=rooms, members=known, messages=known)
        file = folder / "people.csv"
        people.write(file, visitors, rooms)
        wanted = {"THRONG_DATA_DIR": str(folder / "data")} | (settings or {})
        with Throng(tools.throng, wanted).start(stage) as server:
            for community in people.COMMUNITIES[:communities]:
                _trust(server, community)
            yield House(server, file)


def _trust(server: Running, community: str) -> None:
    """Lets a community believe the tokens of [`people`]."""
    purpose = {"kind": "token", "algorithm": "HS256", "kid": None, "material": people.SECRET}
    token = (server.data_dir / "admin-token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(urlsplit(server.metrics_url).netloc, timeout=60)
    with contextlib.closing(connection):
        body = json.dumps({"name": "bench", "purpose": purpose})
        connection.request("POST", f"/api/v1/communities/{community}/keys", body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    if answer.status not in (http.client.OK, http.client.CREATED):
        raise RuntimeError(f"the request for the token key returned {answer.status}: {text}")
