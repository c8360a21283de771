"""What communities' sites are told, by a server that is killed and one that ends by itself."""

import json
import queue
import threading
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness.programs import DEADLINE_SECONDS, HOST
from harness.rest import ask
from server import Api, running

ROOM = "/communities/default/conversations/room:lobby/messages"


class Site:
    """A community's site: what it was told, in the order in which that came; it answers while it is open."""

    def __init__(self) -> None:
        self.told: queue.Queue[tuple[str, str]] = queue.Queue()
        self.open = threading.Event()
        self.open.set()
        site = self

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                site.told.put((self.headers["webhook-id"], body["data"]["text"]))
                site.open.wait(DEADLINE_SECONDS)
                try:
                    self.send_response(204)
                    self.end_headers()
                except OSError:
                    pass  # Whoever asked was killed.

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer((HOST, 0), Answering)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server.server_address[1]}/hook"

    def next(self) -> tuple[str, str]:
        """The id and the text of what comes next."""
        return self.told.get(timeout=DEADLINE_SECONDS)


@contextmanager
def told_site() -> Iterator[tuple[Api, Site, str]]:
    """A server, a site that it tells of messages, and a key that may send."""
    site = Site()
    try:
        with running({"THRONG_SITES_NETWORKS": f"{HOST}/32"}) as server:
            hook = {"name": "site", "url": site.url, "events": ["message.sent"]}
            server.operate("POST", "/communities/default/webhooks", hook)
            key = server.command("key", "create", "default", "--name", "site", "--scopes", "send").splitlines()[0]
            yield server, site, key
            site.open.set()
    finally:
        site.open.set()
        site.server.shutdown()
        site.server.server_close()


def say(server: Api, key: str, text: str) -> None:
    ask(server.public, "POST", ROOM, key, {"text": text})


class Webhooks(unittest.TestCase):
    def test_what_waits_when_the_server_is_killed_is_told_when_it_starts_again(self) -> None:
        with told_site() as (server, site, key):
            texts = [f"message {number}" for number in range(20)]
            site.open.clear()
            for text in texts:
                say(server, key, text)
            under_way = site.next()
            # The last answer came after a commit; one more commit of the same community, and what waits is stored.
            server.command("community", "show", "default")
            say(server, key, "a little later")
            server.process.kill()
            site.open.set()
            server.start()
            say(server, key, "the end")
            told = [site.next()]
            while told[-1][1] != "the end":
                told.append(site.next())
            self.assertEqual(told[0], under_way, "nobody knew that it had arrived")
            heard = [text for _, text in told]
            # What a kill may take is what it met before it was written: the newest alone.
            self.assertEqual(heard[: len(heard) - 1], [*texts, "a little later"][: len(heard) - 1])
            self.assertGreater(len(heard), len(texts) // 2)
            self.assertEqual(len({number for number, _ in told}), len(told), "each once")

    def test_a_server_that_ends_by_itself_repeats_nothing_and_forgets_nothing(self) -> None:
        with told_site() as (server, site, key):
            for number in range(5):
                say(server, key, f"message {number}")
            heard = [site.next()[1]]
            server.process.end()
            server.start()
            say(server, key, "the end")
            while heard[-1] != "the end":
                heard.append(site.next()[1])
            self.assertEqual(heard, [*(f"message {number}" for number in range(5)), "the end"])
            self.assertTrue(site.told.empty())
