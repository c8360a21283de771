"""Somebody who writes in a stored room without waiting for the answers, and retries what was not acknowledged."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from harness.programs import DEADLINE_SECONDS
from harness.websocket import WebSocket

COMMUNITY = "default"
TOPIC = f"room:{COMMUNITY}/lobby"
# Messages that are on their way at once.
UNDER_WAY = 16
# Rows of one page of history.
PAGE = 200
# The last word of a message that was edited.
EDITED = "edited"


class Talker:
    """A guest on one connection at a time, as docs/protocol.md says; comes back as the same, to where they stood."""

    def __init__(self, name: str, edits_every: int = 0, reads: bool = False):
        self.name = name
        # They edit every n-th of their messages once; none, if 0.
        self.edits_every = edits_every
        # Whether they say how far they have read. Who talks has read what was said before, too, so a reader is silent.
        self.reads = reads
        self.line: WebSocket | None = None
        self.token = ""
        self.epoch: str | None = None
        # What was heard or read, by its place: the message's id and its client id.
        self.heard: dict[int, tuple[str, str]] = {}
        # Up to here nothing is missing.
        self.last = 0
        # Places and ids of what was acknowledged, by client id.
        self.acked: dict[str, tuple[int, str]] = {}
        # What was said and is not acknowledged, in the order in which it was said.
        self.unacked: list[str] = []
        self.repeated = 0
        # Edits by the places of their messages: own ones that were acknowledged, and everybody's that were told.
        self.edited: dict[int, str] = {}
        self.told_edited: dict[int, str] = {}
        # Up to where they said that they have read, and up to where that was acknowledged.
        self.read_asked = self.read_acked = 0
        self.refused: list[str] = []
        self.problems: list[str] = []
        self.count = 0
        self.talks = False
        self.references = 0
        # Reentrant: what is waited for takes it, too.
        self.changed = threading.Condition()

    def connect(self, port: int) -> None:
        """Comes in, and gets what was missed."""
        self.close()
        query = f"?community={COMMUNITY}&name={self.name}&token={self.token}"
        self.line = WebSocket(port, f"/socket/websocket{query}")
        self.line.wait_forever()
        self.answers: dict[str, dict] = {}
        self.sent: dict[str, str] = {}
        # Edits that are on their way, as places and texts, and reading, as places.
        self.editing: dict[str, tuple[int, str]] = {}
        self.reading: dict[str, int] = {}
        # The question for what was not told, while it is under way.
        self.missing: str | None = None
        self.gone = False
        self.reader = threading.Thread(target=self._read, args=(self.line,), daemon=True)
        self.reader.start()
        recover = {"epoch": self.epoch, "seq": self.last} if self.epoch else None
        answer = self.ask("phx_join", {"recover": recover})
        assert answer["status"] == "ok", answer
        response = answer["response"]
        assert response["recovered"] in (None, True), f"{self.name} was at {recover}, and {response['reason']}"
        with self.changed:
            self.token, self.epoch = response["me"]["token"], response["epoch"]
            if self.reads:
                self._compare_read(response["member"]["read"])
            for message in response["messages"]:
                self._hear(message)
            # What is known already is not heard again.
            self._read_on()

    def talk(self) -> None:
        """Says again what was not acknowledged, in its order, and goes on from there until told to stop."""
        with self.changed:
            self.talks = True
            for client_id in self.unacked:
                self._say(client_id)
            self._go_on()

    def stop(self) -> None:
        with self.changed:
            self.talks = False
            self.refused.clear()

    def wait_for_acks(self, count: int) -> None:
        self._wait(f"{count} acknowledgements", lambda: len(self.acked) >= count)

    def wait_until_all_is_acked(self) -> None:
        self._wait("the last acknowledgement", lambda: not self.unacked)

    def wait_until_heard(self, seq: int) -> None:
        self._wait(f"everything up to {seq}", lambda: self.last >= seq)

    def wait_until_gone(self) -> None:
        self._wait("the connection is gone", lambda: self.gone)
        self.reader.join(DEADLINE_SECONDS)

    def say_more(self) -> None:
        """One message more, whatever waits."""
        with self.changed:
            self._say_new()

    def say_again(self) -> None:
        """Sends everything once more that was not acknowledged."""
        with self.changed:
            for client_id in self.unacked:
                self._say(client_id)

    def say_until_all_is_acked(self) -> None:
        """One after the other, so that their order stays, each until it is acknowledged."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        for client_id in list(self.unacked):
            while client_id in self.unacked:
                with self.changed:
                    self._say(client_id)
                self.wait_until_nothing_is_under_way()
                assert time.monotonic() < deadline, f"{client_id} was never acknowledged: {self.refused[-1:]}"

    def wait_until_read(self, seq: int) -> None:
        self._wait(f"it is acknowledged that everything up to {seq} was read", lambda: self.read_acked >= seq)

    def wait_until_nothing_is_under_way(self) -> None:
        self._wait("the last answer", lambda: not self.sent)

    def wait_until_refused(self) -> set[str]:
        """Waits until something was refused since the talker was stopped; the codes."""
        self._wait("something is refused", lambda: bool(self.refused))
        self.wait_until_nothing_is_under_way()
        return set(self.refused)

    def close(self) -> None:
        if self.line:
            # Who reads holds what would be closed, until the connection is cut.
            with suppress(OSError):
                self.line.cut()
            self.reader.join(DEADLINE_SECONDS)
            self.line.close()

    def history(self, after: int = 0) -> list[dict]:
        """All that is stored behind a place, by pages."""
        messages: list[dict] = []
        while True:
            after = messages[-1]["seq"] if messages else after
            answer = self.ask("history", {"after": after, "limit": PAGE})
            assert answer["status"] == "ok", answer
            messages += answer["response"]["messages"]
            if not answer["response"]["more"]:
                return messages

    def ask(self, event: str, payload: dict) -> dict:
        with self.changed:
            reference = self._send(event, payload)
        self._wait(f"an answer to {event}", lambda: reference in self.answers or self.gone)
        return self.answers.pop(reference)

    def _say(self, client_id: str) -> None:
        self.sent[self._send("msg:new", {"text": client_id, "client_id": client_id})] = client_id

    def _go_on(self) -> None:
        while self.talks and len(self.unacked) < UNDER_WAY:
            self._say_new()

    def _say_new(self) -> None:
        self.count += 1
        client_id = f"{self.name}-{self.count}"
        self.unacked.append(client_id)
        self._say(client_id)

    def _send(self, event: str, payload: dict) -> str:
        self.references += 1
        reference = str(self.references)
        if event == "phx_join":
            self.join_reference = reference
        try:
            self.line.send(json.dumps([self.join_reference, reference, TOPIC, event, payload]))
        except OSError:
            # The server is gone; what was said counts as not acknowledged.
            pass
        return reference

    def _wait(self, what: str, is_so: Callable[[], bool]) -> None:
        with self.changed:
            if not self.changed.wait_for(lambda: self.problems or is_so(), DEADLINE_SECONDS):
                raise AssertionError(f"{self.name} waited in vain for {what}")
            if self.problems:
                raise AssertionError(f"{self.name}: {self.problems}")

    def _read(self, line: WebSocket) -> None:
        try:
            while (text := line.receive()) is not None:
                with self.changed:
                    self._take(*json.loads(text))
                    self.changed.notify_all()
        except OSError:
            pass
        except (ValueError, KeyError, TypeError) as error:
            # What a dying server did not finish was never a text: this is.
            self.problems.append(f"something was told that cannot be read: {error!r}")
        with self.changed:
            self.gone = True
            self.changed.notify_all()

    def _take(self, _join_reference, reference, _topic: str, event: str, payload: dict) -> None:
        if event == "msg:new":
            self._hear(payload)
            self._fill(payload["seq"])
        elif event == "msg:edit":
            self.told_edited[payload["seq"]] = payload["text"]
        elif event == "head":
            self._fill(payload["seq"])
        elif event == "phx_reply" and reference == self.missing:
            self.missing = None
            if payload["status"] == "ok":
                for message in payload["response"]["messages"]:
                    self._hear(message)
        elif event == "phx_reply" and reference in self.sent:
            self._take_answer(self.sent.pop(reference), payload)
        elif event == "phx_reply" and reference in self.editing:
            self._take_changed(payload, *self.editing.pop(reference))
        elif event == "phx_reply" and reference in self.reading:
            self._take_read(payload, self.reading.pop(reference))
        elif event == "phx_reply":
            self.answers[reference] = payload
        elif event == "phx_error":
            self.problems.append("the channel failed")

    def _fill(self, seq: int) -> None:
        """Asks for what is missing up to there: what is stored by a commit of unknown outcome is told to nobody, and the
        next place, or `head`, shows the hole."""
        if seq > self.last and self.missing is None:
            self.missing = self._send("history", {"after": self.last, "limit": PAGE})

    def _take_answer(self, client_id: str, answer: dict) -> None:
        response = answer["response"]
        if answer["status"] != "ok":
            self.refused.append(response["code"])
            return
        place = (response["seq"], response["id"])
        if self.acked.setdefault(client_id, place) != place:
            self.problems.append(f"{client_id} was acknowledged at {self.acked[client_id]} and {place}")
        self.repeated += response["repeated"]
        if client_id in self.unacked:
            self.unacked.remove(client_id)
        # What is stored since an earlier connection stays as it is, so that it need not be read again.
        if self.talks and self.edits_every and not response["repeated"] and len(self.acked) % self.edits_every == 0:
            seq, text = response["seq"], f"{client_id} {EDITED}"
            self.editing[self._send("msg:edit", {"seq": seq, "text": text})] = (seq, text)
        self._go_on()

    def _compare_read(self, read: int) -> None:
        bounds = f"{self.read_acked}, which was acknowledged, to {self.read_asked}, which was asked for"
        assert self.read_acked <= read <= self.read_asked, f"{self.name} has read up to {read}, not {bounds}"
        self.read_asked = self.read_acked = read

    def _read_on(self) -> None:
        if self.reads and not self.reading and self.last > self.read_asked:
            self.read_asked = self.last
            self.reading[self._send("read", {"seq": self.last})] = self.last

    def _take_changed(self, answer: dict, seq: int, text: str) -> None:
        if answer["status"] != "ok":
            self.problems.append(f"the edit of {seq} was refused: {answer}")
        self.edited[seq] = text

    def _take_read(self, answer: dict, seq: int) -> None:
        if answer["status"] != "ok" or answer["response"]["read"] < seq:
            self.problems.append(f"reading up to {seq} was answered by {answer}")
        self.read_acked = max(self.read_acked, seq)
        self._read_on()

    def _hear(self, message: dict) -> None:
        told = (message["id"], message["client_id"])
        if self.heard.setdefault(message["seq"], told) != told:
            self.problems.append(f"at {message['seq']} were {self.heard[message['seq']]} and {told}")
        while self.last + 1 in self.heard:
            self.last += 1
        self._read_on()
