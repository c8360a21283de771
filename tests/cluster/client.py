"""A client that speaks Phoenix V2 over a WebSocket and keeps everything that it is told, as docs/protocol.md says."""

import base64
import json
import os
import socket
import threading
import time
from collections.abc import Callable

from processes import DEADLINE_SECONDS, HOST

TEXT, CLOSE, PING = 0x1, 0x8, 0x9
FINAL, MASKED = 0x80, 0x80


class Client:
    """One person, in one room at a time, on the node with this port; may go to another."""

    def __init__(self, port: int, topic: str, **join_params):
        self.topic = topic
        self.params = join_params
        self.told: list[tuple[str, dict]] = []
        self.refs = 0
        # Reentrant: what is waited for takes it, too.
        self.changed = threading.Condition()
        self.connect(port)

    def connect(self, port: int) -> dict:
        """Joins by a new connection, from where it stood; the reply."""
        if hasattr(self, "socket"):
            self.close()
        self.port = port
        self.socket = socket.create_connection((HOST, port), DEADLINE_SECONDS)
        self.socket.settimeout(None)
        self.stream = self.socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /socket/websocket?vsn=2.0.0 HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: Upgrade\r\n"
            f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        status = self.stream.readline()
        while self.stream.readline() not in (b"\r\n", b""):
            pass
        assert b" 101 " in status, status
        self.gone, self.replies = False, {}
        self.reader = threading.Thread(target=self._read, args=(self.stream,), daemon=True)
        self.reader.start()
        return self.ask("phx_join", self.params)

    def ask(self, event: str, payload: dict) -> dict:
        """Sends a message and waits for its reply."""
        reference = self.send(event, payload)
        self._wait(f"a reply to {event}", lambda: reference in self.replies)
        return self.replies.pop(reference)

    def send(self, event: str, payload: dict) -> str:
        self.refs += 1
        reference = str(self.refs)
        if event == "phx_join":
            self.join_ref = reference
        message = json.dumps([self.join_ref, reference, self.topic, event, payload]).encode()
        # A masking key of zeros leaves the text as it is (RFC 6455 section 5.3).
        short = len(message) < 126
        length = bytes([MASKED | len(message)]) if short else bytes([MASKED | 126, *len(message).to_bytes(2, "big")])
        self.socket.sendall(bytes([FINAL | TEXT]) + length + bytes(4) + message)
        return reference

    def say(self, body: str) -> dict:
        return self.ask("new_msg", {"body": body})

    def say_until_accepted(self, body: str) -> None:
        """As an application does whose user is told when it is not known whether a message was taken."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        attempt = 0
        while self.say(f"{body}.{attempt}")["status"] != "ok":
            attempt += 1
            assert time.monotonic() < deadline, f"{body} was never accepted"
            time.sleep(0.05)

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
        self.socket.close()
        self.stream.close()

    def cut(self) -> None:
        """Ends the connection and waits until nothing more is read."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.wait_until_gone()

    def wait_for_event(self, name: str) -> None:
        self._wait(name, lambda: bool(self.events(name)))

    def _wait(self, what: str, is_so: Callable[[], bool]) -> None:
        with self.changed:
            if not self.changed.wait_for(is_so, DEADLINE_SECONDS):
                raise AssertionError(f"waited in vain for {what}; told at last: {self.told[-5:]}")

    def _read(self, stream) -> None:
        try:
            while self._frame(stream):
                pass
        except (OSError, ValueError):
            pass
        with self.changed:
            self.gone = True
            self.changed.notify_all()

    def _frame(self, stream) -> bool:
        head = stream.read(2)
        if len(head) < 2:
            return False
        length = head[1]
        if length >= 126:
            length = int.from_bytes(stream.read(2 if length == 126 else 8), "big")
        payload = stream.read(length)
        kind = head[0] & 0xF
        if len(payload) < length or kind == CLOSE:
            return False
        if kind == TEXT:
            with self.changed:
                self._take(*json.loads(payload))
                self.changed.notify_all()
        return True

    def _take(self, _join_ref, reference, topic: str, event: str, payload: dict) -> None:
        assert topic == self.topic, topic
        if event == "phx_reply":
            self.replies[reference] = payload
            start = payload["response"].get("recover") if isinstance(payload["response"], dict) else None
            if start and "epoch" in start:
                self._stand(epoch=start["epoch"], offset=start["offset"], publisher=start["publisher"])
            return
        self.told.append((event, payload))
        if event == "gap":
            self._stand(epoch=payload["epoch"], offset=payload["to"])
        elif "phx_offset" in payload:
            self._stand(offset=payload["phx_offset"])

    def _stand(self, **position) -> None:
        self.params["recover"] = {**self.params.get("recover", {}), **position}
