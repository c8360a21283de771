CREATE TABLE communities (
    community TEXT COLLATE "C" PRIMARY KEY,
    created_ms BIGINT NOT NULL,
    settings TEXT COLLATE "C" NOT NULL
);

CREATE TABLE keys (
    community TEXT COLLATE "C" NOT NULL,
    id BYTEA NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL,
    hash BYTEA NOT NULL,
    created_ms BIGINT NOT NULL,
    revoked_ms BIGINT,
    PRIMARY KEY (community, id)
);

CREATE TABLE people (
    community TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    avatar TEXT COLLATE "C",
    guest BIGINT NOT NULL,
    role TEXT COLLATE "C",
    receipts BIGINT NOT NULL,
    seen_ms BIGINT NOT NULL,
    PRIMARY KEY (community, id)
);

CREATE TABLE blocks (
    community TEXT COLLATE "C" NOT NULL,
    by_person TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (community, by_person, person)
);
CREATE INDEX blocks_of ON blocks (community, person);

CREATE TABLE conversations (
    community TEXT COLLATE "C" NOT NULL,
    id BYTEA NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    pair TEXT COLLATE "C",
    title TEXT COLLATE "C" NOT NULL,
    topic TEXT COLLATE "C" NOT NULL,
    slow_mode_s BIGINT NOT NULL,
    members BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    active_ms BIGINT NOT NULL,
    PRIMARY KEY (community, id)
);
CREATE UNIQUE INDEX rooms ON conversations (community, name) WHERE name IS NOT NULL;
CREATE UNIQUE INDEX pairs ON conversations (community, pair) WHERE pair IS NOT NULL;

CREATE TABLE members (
    community TEXT COLLATE "C" NOT NULL,
    conversation BYTEA NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    joined_ms BIGINT NOT NULL,
    delivered_seq BIGINT NOT NULL,
    read_seq BIGINT NOT NULL,
    muted BIGINT NOT NULL,
    archived BIGINT NOT NULL,
    sent_ms BIGINT NOT NULL,
    PRIMARY KEY (community, conversation, person)
);
CREATE INDEX memberships ON members (community, person, conversation);

CREATE TABLE invitations (
    community TEXT COLLATE "C" NOT NULL,
    id BYTEA NOT NULL,
    conversation BYTEA NOT NULL,
    person TEXT COLLATE "C",
    by_person TEXT COLLATE "C" NOT NULL,
    at_ms BIGINT NOT NULL,
    until_ms BIGINT,
    uses BIGINT NOT NULL,
    PRIMARY KEY (community, id)
);
CREATE INDEX invitations_for ON invitations (community, person, conversation);

-- A conversation of 16 zero bytes stands for the whole community, here and in the audit log.
CREATE TABLE sanctions (
    community TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    conversation BYTEA NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    until_ms BIGINT,
    by_person TEXT COLLATE "C" NOT NULL,
    at_ms BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (community, person, conversation, kind)
);
CREATE INDEX sanctions_of ON sanctions (community, conversation, person);

-- `words` are as `chat` finds them; the first names the community and has a character that no other word has.
CREATE TABLE messages (
    community TEXT COLLATE "C" NOT NULL,
    conversation BYTEA NOT NULL,
    seq BIGINT NOT NULL,
    id BYTEA NOT NULL,
    sender TEXT COLLATE "C" NOT NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    at_ms BIGINT NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    reply_to BIGINT,
    mentions TEXT COLLATE "C" NOT NULL,
    attachments TEXT COLLATE "C" NOT NULL,
    edited_ms BIGINT,
    edits BIGINT NOT NULL,
    deleted_ms BIGINT,
    moderated BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    words TSVECTOR,
    PRIMARY KEY (community, conversation, seq)
);
CREATE UNIQUE INDEX messages_ids ON messages (community, id);
CREATE UNIQUE INDEX messages_sent ON messages (community, sender, client_id);
CREATE INDEX messages_words ON messages USING gin (words);
CREATE INDEX messages_changed ON messages (community, conversation, revision) WHERE revision > 0;

CREATE TABLE edits (
    community TEXT COLLATE "C" NOT NULL,
    conversation BYTEA NOT NULL,
    seq BIGINT NOT NULL,
    nth BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (community, conversation, seq, nth)
);

CREATE TABLE reactions (
    community TEXT COLLATE "C" NOT NULL,
    conversation BYTEA NOT NULL,
    seq BIGINT NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    emoji TEXT COLLATE "C" NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (community, conversation, seq, person, emoji)
);
CREATE INDEX reactions_by ON reactions (community, person);

CREATE TABLE mentions (
    community TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    conversation BYTEA NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (community, person, conversation, seq)
);

CREATE TABLE reports (
    community TEXT COLLATE "C" NOT NULL,
    id BYTEA NOT NULL,
    conversation BYTEA NOT NULL,
    seq BIGINT NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    by_person TEXT COLLATE "C" NOT NULL,
    at_ms BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    settled_ms BIGINT,
    settled_by TEXT COLLATE "C",
    settled_note TEXT COLLATE "C",
    PRIMARY KEY (community, id)
);
CREATE INDEX reports_open ON reports (community, conversation, id) WHERE settled_ms IS NULL;

CREATE TABLE audit (
    community TEXT COLLATE "C" NOT NULL,
    id BYTEA NOT NULL,
    conversation BYTEA NOT NULL,
    at_ms BIGINT NOT NULL,
    by_person TEXT COLLATE "C" NOT NULL,
    deed TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C",
    seq BIGINT,
    note TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (community, id)
);
CREATE INDEX audit_of ON audit (community, conversation, id);

