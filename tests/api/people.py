"""People of a host site, as its tokens name them."""

import base64
import hashlib
import hmac
import json
import time

SECRET = "a secret of at least thirty-two bytes"
# By which the community believes the site.
SITE = {"name": "site", "purpose": {"kind": "token", "algorithm": "HS256", "material": SECRET}}


def token(person: str, roles: list[str]) -> str:
    """As the host site signs it."""
    now = int(time.time())
    claims = {"sub": person, "aud": "default", "iat": now - 5, "exp": now + 3600, "name": person.title(), "roles": roles}
    signed = ".".join(_encoded(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{signed}.{_encoded(hmac.digest(SECRET.encode(), signed.encode(), hashlib.sha256))}"


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
