"""What a community needs so that every operation has something to work on: the document's own examples name it."""

from typing import Any

from harness.rest import ask
from people import SITE, token
from server import Api

SCOPES = ["send", "list", "moderate", "manage_rooms", "manage_people", "manage_settings", "publish", "presence"]


class Furniture:
    """The community `default` with people, a room, messages, and one of everything that has an id."""

    def __init__(self, server: Api) -> None:
        self.server = server
        scopes = ",".join(SCOPES)
        words = ["key", "create", "default", "--name", "tests", "--scopes", scopes, "--lasts", "1d"]
        self.key = server.command(*words).splitlines()[0]
        for person in ("ann", "bob"):
            self.ask("PUT", f"/people/{person}", {"name": person})
            self.ask("PUT", f"/conversations/room:lobby/members/{person}", {})
        # Who is removed, who is punished, and who is erased.
        for person in ("carl", "dan", "eve"):
            self.ask("PUT", f"/people/{person}", {"name": person})
            self.ask("PUT", f"/conversations/room:lobby/members/{person}", {})
        server.command("community", "create", "spare")
        server.command("room", "create", "default", "spare")
        first = self.ask("POST", "/conversations/room:lobby/messages", {"text": "hello", "client_id": "first"})
        report = self.ask("POST", f"/conversations/room:lobby/messages/{self.send()['seq']}/reports", {"reason": "x"})
        # By the names of parameters: what has a name, and ids that the server made.
        self.known: dict[str, Any] = {
            "community": "default",
            "conversation": "room:lobby",
            "other": "bob",
            "seq": 1,
            "message": first["id"],
            "report": report["id"],
            "invitation": self.invite(),
            "key": self.make("keys", SPARE)["id"],
            "webhook": self.make("webhooks", HOOK)["id"],
        }
        # With which the same request would leave nothing for the next one, or for another.
        self.spent: dict[str, dict[str, Any]] = {
            "erase_person": {"person": "eve"},
            "erase_community": {"community": "spare"},
            "erase_conversation": {"conversation": "room:spare"},
            "remove_member": {"person": "carl"},
            "punish": {"person": "dan"},
            "lift": {"person": "dan"},
            "delete_message": {"seq": self.send()["seq"]},
            "withdraw_invitation": {"invitation": self.invite()},
            "revoke_key": {"key": self.make("keys", SPARE)["id"]},
            "delete_webhook": {"webhook": self.make("webhooks", HOOK)["id"]},
        }
        # What there is of bodies that a stranger hardly makes up: people who are there.
        self.bodies: dict[str, Any] = {
            "open_direct": {"with": "bob"},
            "open_group": {"with": ["bob"]},
            "put_member": {"role": "member"},
            "send_message": {"text": "hello"},
        }

    def admit(self, owner: str) -> int:
        """Puts an owner of the community into the room, who says something by a token of its site: the place of that."""
        self.make("keys", SITE)
        self.ask("PUT", f"/people/{owner}", {"name": owner})
        self.ask("PUT", f"/conversations/room:lobby/members/{owner}", {})
        shown, path = token(owner, roles=["owner"]), "/communities/default/conversations/room:lobby/messages"
        return ask(self.server.public, "POST", path, shown, {"text": "mine"})["seq"]

    def invite(self) -> str:
        """An open invitation into the room."""
        return self.ask("POST", "/conversations/room:lobby/invitations", {"uses": 1000})["id"]

    def send(self) -> Any:
        """One more message, by ann."""
        return self.ask("POST", "/conversations/room:lobby/messages", {"text": "hello again"})

    def make(self, things: str, body: Any) -> Any:
        return self.server.operate("POST", f"/communities/default/{things}", body)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return ask(self.server.public, method, f"/communities/default{path}", self.key, body)


SPARE = {"name": "spare", "purpose": {"kind": "server", "scopes": ["list"]}}
HOOK = {"name": "site", "url": "https://example.org/hook"}
