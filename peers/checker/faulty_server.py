"""A WebSocket server with one fault of one's choice: what the check has to notice. For tests only."""

import base64
import contextlib
import enum
import hashlib
import socket
import threading
from collections.abc import Iterator

from checker.conversations import BROADCAST_PATH
from checker.websocket import BINARY, CLOSE, MAGIC, PING, PONG, TEXT, Message, apply_mask, head


class Fault(enum.Enum):
    """What is wrong with the server."""

    NONE = "nothing"
    ACCEPT_KEY = "answers every key alike"
    COMPRESSION = "agrees to compression"
    TEXT_AS_BINARY = "echoes text as binary"
    LONG_CUT = "cuts what is longer than a short frame"
    EMPTY_LOST = "swallows empty messages"
    MASKS = "masks its frames"
    OUT_OF_ORDER = "answers the second of two messages first"
    NO_PONG = "ignores pings"
    CLOSE_CODE = "closes with another code"
    NO_FAREWELL = "drops the connection instead of answering a close"
    NOT_TO_SENDER = "leaves the sender out of a broadcast"
    TO_EVERYBODY = "broadcasts echoes"


class FaultyServer:
    """Listens on a port of its own until `close`; a thread for each connection."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._lock = threading.Lock()
        self._audience: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:{1}".format(*self._listener.getsockname())
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, client.makefile("rb") as words, contextlib.suppress(OSError, EOFError):
            listens = self._upgrade(client, words) == BROADCAST_PATH
            if listens:
                with self._lock:
                    self._audience.append(client)
            try:
                self._talk(client, words, listens)
            finally:
                with self._lock:
                    self._audience = [member for member in self._audience if member is not client]

    def _upgrade(self, client: socket.socket, words) -> str:
        lines = list(iter(lambda: words.readline().strip(), b""))
        key = next(line.partition(b":")[2].strip() for line in lines if line.lower().startswith(b"sec-websocket-key"))
        key = b"" if self._fault is Fault.ACCEPT_KEY else key
        accept = base64.b64encode(hashlib.sha1(key + MAGIC).digest())
        extensions = b"Sec-WebSocket-Extensions: permessage-deflate\r\n" if self._fault is Fault.COMPRESSION else b""
        client.sendall(b"HTTP/1.1 101 Go\r\nSec-WebSocket-Accept: " + accept + b"\r\n" + extensions + b"\r\n")
        return lines[0].split()[1].decode()

    def _talk(self, client: socket.socket, words, listens: bool) -> None:
        held = None
        for message in _messages(words):
            if message.opcode == PING:
                if self._fault is not Fault.NO_PONG:
                    self._send(client, Message(PONG, message.payload))
            elif message.opcode == CLOSE:
                if self._fault is not Fault.NO_FAREWELL:
                    code = (1002).to_bytes(2, "big") if self._fault is Fault.CLOSE_CODE else message.payload
                    self._send(client, Message(CLOSE, code))
                return
            elif listens or self._fault is Fault.TO_EVERYBODY:
                self._broadcast(client, message)
            elif self._fault is Fault.OUT_OF_ORDER and message.payload == b"message 0":
                held = message
            else:
                self._send(client, message)
                if held:
                    self._send(client, held)
                    held = None

    def _broadcast(self, sender: socket.socket, message: Message) -> None:
        with self._lock:
            audience = list(self._audience)
        for member in audience:
            if member is not sender or self._fault is not Fault.NOT_TO_SENDER:
                with contextlib.suppress(OSError):
                    self._send(member, message)
        if sender not in audience:
            self._send(sender, message)

    def _send(self, client: socket.socket, message: Message) -> None:
        opcode, payload = message.opcode, message.payload
        if self._fault is Fault.EMPTY_LOST and not payload:
            return
        if self._fault is Fault.TEXT_AS_BINARY and opcode == TEXT:
            opcode = BINARY
        if self._fault is Fault.LONG_CUT:
            payload = payload[:125]
        sent = Message(opcode, payload)
        mask = bytes(4) if self._fault is Fault.MASKS else b""
        client.sendall(head(sent, 0x80 if mask else 0) + mask + payload)


def _messages(words) -> Iterator[Message]:
    while True:
        first, second = _exactly(words, 2)
        length = second & 0x7F
        if length >= 126:
            length = int.from_bytes(_exactly(words, 2 if length == 126 else 8), "big")
        mask = _exactly(words, 4)
        yield Message(first & 0x0F, apply_mask(_exactly(words, length), mask))


def _exactly(words, count: int) -> bytes:
    found = words.read(count)
    if len(found) < count:
        raise EOFError
    return found
