"""People of a community, with tokens that their host site would have signed, in the file that scenarios are fed from."""

import base64
import csv
import hashlib
import hmac
import json
import time
from pathlib import Path

# As crates/store/examples/furnished calls them.
COMMUNITIES = ("c0", "c1")
COMMUNITY = COMMUNITIES[0]
SECRET = "a secret of a host site that does not exist"
LASTS_S = 6 * 60 * 60

COLUMNS = ("person", "partner", "place", "room", "token")


def write(path: Path, people: int, rooms: int, community: str = COMMUNITY, called: str = "p") -> None:
    """So many of a community, spread evenly over rooms; two neighbours are partners."""
    now = int(time.time())
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for place in range(people):
            name, partner = f"{called}{place}", f"{called}{place ^ 1}"
            rows.writerow((name, partner, place, f"r{place % rooms}", token(name, community, now)))


def token(person: str, audience: str, now: int) -> str:
    """As docs/identity.md has it (HS256)."""

    def part(data: bytes) -> bytes:
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    claims = {"sub": person, "name": person, "aud": audience, "iat": now, "exp": now + LASTS_S}
    signed = part(b'{"alg":"HS256","typ":"JWT"}') + b"." + part(json.dumps(claims).encode())
    signature = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    return (signed + b"." + part(signature)).decode()
