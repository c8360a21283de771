"""Bare clients of PostgreSQL, played by `pgbench` in pipeline mode over one connection: what a database takes of programs
without any rule."""

import re
from pathlib import Path

from runner.messenger.postgres import Postgres

TRANSACTIONS_PER_SECOND = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)

TABLE = "CREATE TABLE IF NOT EXISTS bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text NOT NULL)"
INSERT = f"INSERT INTO bare (text) VALUES ('{'0123456789abcdef' * 4}');"

# Conversations of two in the store's own tables, of a community that the store does not know.
PAIRS = """
TRUNCATE messages, members, conversations;
CREATE SEQUENCE IF NOT EXISTS bare_ids;
INSERT INTO conversations
    (community, id, kind, pair, title, topic, slow_mode_s, members, last_seq, first_seq, revision, created_ms, active_ms)
SELECT 'bare', decode(md5('c' || n), 'hex'), 'direct', 'p' || 2 * n || ' p' || 2 * n + 1, '', '', 0, 2, 0, 1, 0, 0, 0
FROM generate_series(1, {pairs}) AS n;
INSERT INTO members
    (community, conversation, person, role, joined_ms, delivered_seq, read_seq, muted, archived, sent_ms)
SELECT community, id, split_part(pair, ' ', s), 'member', 0, 0, 0, 0, 0, 0 FROM conversations, generate_series(1, 2) AS s
WHERE community = 'bare';
ANALYZE conversations, members;
"""

# All the rows of so many messages of each conversation: the message with its words and in all indexes, how far its
# conversation is, and when its sender wrote last and how far they have read. The database makes them up itself, and a
# statement is for all of them: less cannot be asked of it.
MESSAGES = """UPDATE conversations SET last_seq = last_seq + {each}, active_ms = active_ms + 1 WHERE community = 'bare';
INSERT INTO messages (community, conversation, seq, id, sender, client_id, at_ms, text, mentions, attachments, edits, moderated, \
revision, words) SELECT community, c.id, last_seq - s + 1, decode(lpad(to_hex(nextval('bare_ids')), 32, '0'), 'hex'), \
split_part(pair, ' ', s), 'c' || last_seq - s, active_ms, 'word' || last_seq % 5000 || ' number' || last_seq || \
' of many other words in a message', '', '', 0, 0, 0, CAST('bare word' || last_seq % 5000 || ' number' || last_seq || \
' of many other words in a message' AS tsvector) FROM conversations c, generate_series(1, {each}) AS s WHERE community = 'bare';
UPDATE members m SET sent_ms = active_ms, delivered_seq = last_seq, read_seq = last_seq FROM conversations c \
WHERE m.community = 'bare' AND c.community = 'bare' AND c.id = m.conversation AND split_part(c.pair, ' ', 1) <= m.person \
AND m.person <= split_part(c.pair, ' ', {each});"""


def inserts_per_second(server: Postgres, in_a_transaction: int, seconds: float, folder: Path) -> float:
    """Durable rows of 64 bytes of text in a table that has nothing else, with so many in each transaction."""
    server.run("psql", "-q", "-c", TABLE)
    return _transactions_per_second(server, [INSERT] * in_a_transaction, seconds, folder) * in_a_transaction


def messages_per_second(server: Postgres, in_a_transaction: int, seconds: float, folder: Path) -> float:
    """Durable messages, with all rows that the store writes for each, in the tables that it has made, with so many in each
    transaction: one, or twos of conversations of two."""
    pairs, each = max(in_a_transaction // 2, 1), min(in_a_transaction, 2)
    server.run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", PAIRS.format(pairs=pairs))
    statements = MESSAGES.format(each=each).splitlines()
    return _transactions_per_second(server, statements, seconds, folder) * pairs * each


def _transactions_per_second(server: Postgres, statements: list[str], seconds: float, folder: Path) -> float:
    script = folder / "bare.sql"
    script.write_text("\n".join(["\\startpipeline", "BEGIN;", *statements, "COMMIT;", "\\endpipeline", ""]))
    flags = ["-n", "-c", 1, "-j", 1, "-M", "prepared", "-T", max(round(seconds), 1), "-f", script]
    said = server.run("pgbench", *flags)
    found = TRANSACTIONS_PER_SECOND.search(said)
    if found is None:
        raise RuntimeError(f"pgbench reported no rate: {said.strip()[-300:]}")
    return float(found[1])
