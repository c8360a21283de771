-- One row: what is true of the whole store. An empty epoch is replaced when the store is opened.
CREATE TABLE store (epoch TEXT NOT NULL) STRICT;
INSERT INTO store (epoch) VALUES ('');

CREATE TABLE communities (
    community TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    settings TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
    community TEXT NOT NULL,
    id BLOB NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    purpose TEXT NOT NULL,
    hash BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER,
    PRIMARY KEY (community, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE people (
    community TEXT NOT NULL,
    id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    name TEXT NOT NULL,
    avatar TEXT,
    guest INTEGER NOT NULL,
    role TEXT,
    receipts INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL,
    PRIMARY KEY (community, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
    community TEXT NOT NULL,
    by_person TEXT NOT NULL,
    person TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (community, by_person, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX blocks_of ON blocks (community, person);

CREATE TABLE conversations (
    community TEXT NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    name TEXT,
    pair TEXT,
    title TEXT NOT NULL,
    topic TEXT NOT NULL,
    slow_mode_s INTEGER NOT NULL,
    members INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    active_ms INTEGER NOT NULL,
    PRIMARY KEY (community, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX rooms ON conversations (community, name) WHERE name IS NOT NULL;
CREATE UNIQUE INDEX pairs ON conversations (community, pair) WHERE pair IS NOT NULL;

CREATE TABLE members (
    community TEXT NOT NULL,
    conversation BLOB NOT NULL,
    person TEXT NOT NULL,
    role TEXT NOT NULL,
    joined_ms INTEGER NOT NULL,
    delivered_seq INTEGER NOT NULL,
    read_seq INTEGER NOT NULL,
    muted INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    sent_ms INTEGER NOT NULL,
    PRIMARY KEY (community, conversation, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships ON members (community, person, conversation);

CREATE TABLE invitations (
    community TEXT NOT NULL,
    id BLOB NOT NULL,
    conversation BLOB NOT NULL,
    person TEXT,
    by_person TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    until_ms INTEGER,
    uses INTEGER NOT NULL,
    PRIMARY KEY (community, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX invitations_for ON invitations (community, person, conversation);

-- A conversation of 16 zero bytes stands for the whole community, here and in the audit log.
CREATE TABLE sanctions (
    community TEXT NOT NULL,
    person TEXT NOT NULL,
    conversation BLOB NOT NULL,
    kind TEXT NOT NULL,
    until_ms INTEGER,
    by_person TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (community, person, conversation, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX sanctions_of ON sanctions (community, conversation, person);

-- `row` is what the search index calls a message; it grows in the order of storing.
CREATE TABLE messages (
    row INTEGER PRIMARY KEY,
    community TEXT NOT NULL,
    conversation BLOB NOT NULL,
    seq INTEGER NOT NULL,
    id BLOB NOT NULL,
    sender TEXT NOT NULL,
    client_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    text TEXT NOT NULL,
    reply_to INTEGER,
    mentions TEXT NOT NULL,
    attachments TEXT NOT NULL,
    edited_ms INTEGER,
    edits INTEGER NOT NULL,
    deleted_ms INTEGER,
    moderated INTEGER NOT NULL,
    revision INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX messages_places ON messages (community, conversation, seq);
CREATE UNIQUE INDEX messages_ids ON messages (community, id);
CREATE UNIQUE INDEX messages_sent ON messages (community, sender, client_id);
CREATE INDEX messages_changed ON messages (community, conversation, revision) WHERE revision > 0;

CREATE TABLE edits (
    community TEXT NOT NULL,
    conversation BLOB NOT NULL,
    seq INTEGER NOT NULL,
    nth INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (community, conversation, seq, nth)
) STRICT, WITHOUT ROWID;

CREATE TABLE reactions (
    community TEXT NOT NULL,
    conversation BLOB NOT NULL,
    seq INTEGER NOT NULL,
    person TEXT NOT NULL,
    emoji TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (community, conversation, seq, person, emoji)
) STRICT, WITHOUT ROWID;
CREATE INDEX reactions_by ON reactions (community, person);

CREATE TABLE mentions (
    community TEXT NOT NULL,
    person TEXT NOT NULL,
    conversation BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (community, person, conversation, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE reports (
    community TEXT NOT NULL,
    id BLOB NOT NULL,
    conversation BLOB NOT NULL,
    seq INTEGER NOT NULL,
    author TEXT NOT NULL,
    by_person TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    settled_ms INTEGER,
    settled_by TEXT,
    settled_note TEXT,
    PRIMARY KEY (community, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reports_open ON reports (community, conversation, id) WHERE settled_ms IS NULL;

CREATE TABLE audit (
    community TEXT NOT NULL,
    id BLOB NOT NULL,
    conversation BLOB NOT NULL,
    at_ms INTEGER NOT NULL,
    by_person TEXT NOT NULL,
    deed TEXT NOT NULL,
    person TEXT,
    seq INTEGER,
    note TEXT NOT NULL,
    PRIMARY KEY (community, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_of ON audit (community, conversation, id);

-- Words as `chat` finds them, with blanks between them: whatever is no blank belongs to a word. The first word of each
-- entry names the community and has a character that no other word has. `secure-delete` takes a deleted message's words
-- out of the index at once, not when its parts are merged some day.
CREATE VIRTUAL TABLE message_words USING fts5 (
    words,
    content = '',
    detail = 'none',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
);
INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1);
