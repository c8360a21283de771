-- Conversations that are being erased. A room's name stays taken until nothing is left.
CREATE TABLE unfinished_erasures (
    community TEXT COLLATE "C" NOT NULL,
    conversation BYTEA NOT NULL,
    name TEXT COLLATE "C",
    by_person TEXT COLLATE "C" NOT NULL,
    last_ms BIGINT NOT NULL,
    PRIMARY KEY (community, conversation)
);
CREATE INDEX unfinished_erasures_named ON unfinished_erasures (community, name) WHERE name IS NOT NULL;
-- To find the rows that are left of a conversation.
CREATE INDEX invitations_into ON invitations (community, conversation);
CREATE INDEX reports_of ON reports (community, conversation);
