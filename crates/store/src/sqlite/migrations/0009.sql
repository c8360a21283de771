-- Conversations that are being erased. A room's name stays taken until nothing is left.
CREATE TABLE unfinished_erasures (
    community TEXT NOT NULL,
    conversation BLOB NOT NULL,
    name TEXT,
    by_person TEXT NOT NULL,
    last_ms INTEGER NOT NULL,
    PRIMARY KEY (community, conversation)
) STRICT, WITHOUT ROWID;
CREATE INDEX unfinished_erasures_named ON unfinished_erasures (community, name) WHERE name IS NOT NULL;
-- To find the rows that are left of a conversation.
CREATE INDEX invitations_into ON invitations (community, conversation);
CREATE INDEX reports_of ON reports (community, conversation);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('unfinished_erasures', 'unfinished_erasures', '100 10 1'),
    ('unfinished_erasures', 'unfinished_erasures_named', '100 10 1'),
    ('invitations', 'invitations_into', '100000 1000 10'),
    ('reports', 'reports_of', '100000 1000 10');
ANALYZE sqlite_schema;
