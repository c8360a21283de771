"""A client that speaks Phoenix V2 over a WebSocket and keeps everything that it is told, as docs/protocol.md says."""

import json
import threading
import time
from collections.abc import Callable
from urllib.parse import urlencode

from harness.programs import DEADLINE_SECONDS, HOST
from harness.websocket import WebSocket


class Client:
    """One person, in one room at a time, on the node with this port; may go to another on the same host."""

    def __init__(
        self,
        port: int,
        topic: str,
        socket: str = "",
        connect_params: dict | None = None,
        host: str = HOST,
        **join_params,
    ):
        self.topic, self.host = topic, host
        query = urlencode({**({"id": socket} if socket else {}), **(connect_params or {})})
        self.path = f"/socket/websocket?{query}" if query else "/socket/websocket"
        self.params = join_params
        self.told: list[tuple[str, dict]] = []
        self.refs = 0
        # Reentrant: what is waited for takes it, too.
        self.changed = threading.Condition()
        self.joined = self.connect(port)

    def connect(self, port: int) -> dict:
        """Joins by a new connection, from where it stood; the reply."""
        if hasattr(self, "line"):
            self.close()
        self.port = port
        self.line = WebSocket(port, self.path, host=self.host)
        self.line.wait_forever()
        self.gone, self.replies = False, {}
        self.reader = threading.Thread(target=self._read, args=(self.line,), daemon=True)
        self.reader.start()
        return self.ask("phx_join", self.params)

    def ask(self, event: str, payload: dict) -> dict:
        """Sends a message and waits for its reply."""
        reference = self.send(event, payload)
        self._wait(f"a reply to {event}", lambda: reference in self.replies or self.gone)
        if reference not in self.replies:
            raise ConnectionError(f"the connection ended before a reply to {event}")
        return self.replies.pop(reference)

    def send(self, event: str, payload: dict) -> str:
        self.refs += 1
        reference = str(self.refs)
        if event == "phx_join":
            self.join_ref = reference
        self.line.send(json.dumps([self.join_ref, reference, self.topic, event, payload]))
        return reference

    def say(self, body: str) -> dict:
        return self.ask("new_msg", {"body": body})

    def say_until_accepted(self, body: str) -> str:
        """As an application does whose user is told when it is not known whether a message was taken; what was accepted."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        attempt = 0
        while self.say(f"{body}.{attempt}")["status"] != "ok":
            attempt += 1
            assert time.monotonic() < deadline, f"{body} was never accepted"
            time.sleep(0.05)
        return f"{body}.{attempt}"

    def bodies(self) -> list[str]:
        """What was said, in the order in which it was heard."""
        with self.changed:
            return [payload["body"] for event, payload in self.told if event == "new_msg"]

    def events(self, name: str) -> list[dict]:
        with self.changed:
            return [payload for event, payload in self.told if event == name]

    def wait_for_bodies(self, bodies: list[str]) -> None:
        what = f"{bodies[-3:]} of {len(bodies)}"
        self._wait(what, lambda: set(bodies) <= set(self.bodies()))

    def wait_for_people(self, keys: set[str]) -> None:
        """Waits until these, and no others, are present."""
        self._wait(f"the people {keys}", lambda: self.people() == keys)

    def people(self) -> set[str]:
        """Who is present, by the states and diffs so far, as phoenix.js counts them."""
        metas: dict[str, set[str]] = {}
        refs = lambda entry: {meta["phx_ref"] for meta in entry["metas"]}
        with self.changed:
            for event, payload in self.told:
                if event == "presence_state":
                    metas = {key: refs(entry) for key, entry in payload.items()}
                elif event == "presence_diff":
                    for key, entry in payload["joins"].items():
                        metas.setdefault(key, set()).update(refs(entry))
                    for key, entry in payload["leaves"].items():
                        metas.setdefault(key, set()).difference_update(refs(entry))
        return {key for key, of in metas.items() if of}

    def wait_until_gone(self) -> None:
        self._wait("the connection is gone", lambda: self.gone)
        self.reader.join(DEADLINE_SECONDS)

    def close(self) -> None:
        self.line.close()

    def cut(self) -> None:
        """Ends the connection and waits until nothing more is read."""
        self.line.cut()
        self.wait_until_gone()

    def wait_for_event(self, name: str) -> None:
        self._wait(name, lambda: bool(self.events(name)))

    def _wait(self, what: str, is_so: Callable[[], bool]) -> None:
        with self.changed:
            if not self.changed.wait_for(is_so, DEADLINE_SECONDS):
                raise AssertionError(f"waited in vain for {what}; told at last: {self.told[-5:]}")

    def _read(self, line: WebSocket) -> None:
        try:
            while (text := line.receive()) is not None:
                with self.changed:
                    self._take(*json.loads(text))
                    self.changed.notify_all()
        except (OSError, ValueError):
            pass
        with self.changed:
            # The end of an earlier connection says nothing of the one that it has by now.
            self.gone |= line is self.line
            self.changed.notify_all()

    def _take(self, _join_ref, reference, topic: str, event: str, payload: dict) -> None:
        assert topic == self.topic, topic
        if event == "phx_reply":
            self.replies[reference] = payload
            start = payload["response"].get("recover") if isinstance(payload["response"], dict) else None
            if start and "epoch" in start:
                self._stand(epoch=start["epoch"], offset=start["offset"], publisher=start["publisher"])
            return
        self.told.append((event, payload))
        if event == "gap" and "epoch" in payload:
            self._stand(epoch=payload["epoch"], offset=payload["to"])
        elif "phx_offset" in payload:
            self._stand(offset=payload["phx_offset"])

    def _stand(self, **position) -> None:
        self.params["recover"] = {**self.params.get("recover", {}), **position}
