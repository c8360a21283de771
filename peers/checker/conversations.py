"""What is said to a peer of each scenario, and what it must answer."""

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator

from checker import nats
from checker.websocket import BINARY, CLOSE, PING, PONG, TEXT, Message, WebSocket, Wrong, masked

BROADCAST_PATH = "/broadcast"
LISTENERS = 3

# As many as the benchmark has in flight on a connection.
IN_FLIGHT = 16

# Each side of the bounds between the three forms of a frame's length, and one that no single read takes.
BINARY_SIZES = (0, 125, 126, 65_535, 65_536)

# So that the pieces of a frame are read one by one; the outcome does not depend on it.
BETWEEN_PIECES_S = 0.01

NORMAL_CLOSURE = (1000).to_bytes(2, "big")

Conversation = Callable[[str], None]


def of_scenario(scenario: str) -> dict[str, Conversation]:
    """The conversations by name; each takes an address and raises Wrong."""
    if scenario == "echo":
        return ECHO
    if scenario == "broadcast":
        return BROADCAST
    return nats.CONVERSATIONS


def text_comes_back(address: str) -> None:
    with WebSocket(address) as client:
        for text in ("hello", "", "Grüße, 世界, 🐎", "x" * 4000):
            _echo(client, Message(TEXT, text.encode()))


def binary_comes_back(address: str) -> None:
    with WebSocket(address) as client:
        for size in BINARY_SIZES:
            _echo(client, Message(BINARY, bytes(index * 7 % 256 for index in range(size))))


def every_path_echoes(address: str) -> None:
    for path in ("/some/where", "/?a=b", "/broadcasting"):
        with WebSocket(address, path) as client:
            _echo(client, Message(TEXT, path.encode()))


def what_comes_together_is_answered_in_order(address: str) -> None:
    with WebSocket(address) as client:
        messages = [Message(TEXT, f"message {index}".encode()) for index in range(IN_FLIGHT)]
        for _ in range(3):
            client.send(*messages)
            for message in messages:
                client.expect(message)


def a_frame_may_come_in_pieces(address: str) -> None:
    """The head in one write, the payload in others: no read finds all of it."""
    with WebSocket(address) as client:
        message = Message(BINARY, bytes(300))
        frame = masked(message)
        for start, end in itertools.pairwise((0, 1, 3, 6, 50, len(frame))):
            client.send_bytes(frame[start:end])
            time.sleep(BETWEEN_PIECES_S)
        client.expect(message)
        _echo(client, Message(TEXT, b"and the next"))


def a_ping_is_answered(address: str) -> None:
    with WebSocket(address) as client:
        for payload in (b"", b"are you there?", bytes(125)):
            client.send(Message(PING, payload))
            client.expect(Message(PONG, payload))
        _echo(client, Message(TEXT, b"after the ping"))


def a_close_is_answered(address: str) -> None:
    with WebSocket(address) as client:
        _echo(client, Message(TEXT, b"before the end"))
        client.send(Message(CLOSE, NORMAL_CLOSURE))
        answer = client.receive()
        if answer.opcode != CLOSE or answer.payload[:2] not in (b"", NORMAL_CLOSURE):
            raise Wrong(f"received {answer} instead of a close with code 1000")
        client.expect_end()


def everybody_hears_everybody(address: str) -> None:
    with _audience(address) as clients:
        for client in clients:
            for message in (Message(TEXT, b"to all"), Message(BINARY, bytes(range(256)) * 256)):
                _tell(client, message, clients)


def who_leaves_is_not_missed(address: str) -> None:
    with _audience(address) as clients:
        clients[0].close_socket()
        for number in range(3):
            _tell(clients[1], Message(TEXT, f"without you {number}".encode()), clients[1:])
        with WebSocket(address, BROADCAST_PATH) as another:
            everybody = [*clients[1:], another]
            _meet(everybody)
            _tell(another, Message(TEXT, b"instead of you"), everybody)


def echoes_are_not_broadcast(address: str) -> None:
    with _audience(address) as clients, WebSocket(address) as apart:
        _echo(apart, Message(TEXT, b"to myself"))
        _tell(clients[0], Message(TEXT, b"to us"), clients)
        _echo(apart, Message(TEXT, b"I heard nothing"))


def _echo(client: WebSocket, message: Message) -> None:
    client.send(message)
    client.expect(message)


@contextlib.contextmanager
def _audience(address: str) -> Iterator[list[WebSocket]]:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(WebSocket(address, BROADCAST_PATH)) for _ in range(LISTENERS)]
        _meet(clients)
        yield clients


def _meet(clients: list[WebSocket]) -> None:
    """Everybody is in the audience as soon as his ping is answered: a server may answer the upgrade before."""
    for client in clients:
        client.send(Message(PING, b"in?"))
        client.expect(Message(PONG, b"in?"))


def _tell(speaker: WebSocket, message: Message, audience: list[WebSocket]) -> None:
    speaker.send(message)
    for place, listener in enumerate(audience, start=1):
        try:
            listener.expect(message)
        except Wrong as wrong:
            which = "the sender" if listener is speaker else f"listener {place} of {len(audience)}"
            raise Wrong(f"to {which}: {wrong}") from None


# The name of a conversation is that of its function, as a sentence.
def _named(*conversations: Conversation) -> dict[str, Conversation]:
    return {conversation.__name__.replace("_", " "): conversation for conversation in conversations}


ECHO = _named(
    text_comes_back,
    binary_comes_back,
    every_path_echoes,
    what_comes_together_is_answered_in_order,
    a_frame_may_come_in_pieces,
    a_ping_is_answered,
    a_close_is_answered,
)
BROADCAST = _named(everybody_hears_everybody, who_leaves_is_not_missed, echoes_are_not_broadcast)
