-- What the planner is to believe about how many rows alike there are, as in a large messenger: the rows of a table, then
-- those that are equal in the first column of an index, in the first two, and so on. Without it SQLite takes a community
-- for as few rows as a person's, and looked through all members of a community for the conversations of one. Nothing
-- counts them anew (`ANALYZE`, `PRAGMA optimize`): a statement is answered in one way, whatever is stored.
ANALYZE store;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('communities', 'communities', '100 1'),
    ('people', 'people', '1000000 10000 1'),
    ('keys', 'keys', '500 5 1'),
    ('blocks', 'blocks', '100000 1000 10 1'),
    ('blocks', 'blocks_of', '100000 1000 10'),
    ('conversations', 'conversations', '400000 4000 1'),
    ('conversations', 'rooms', '100000 1000 1'),
    ('conversations', 'pairs', '200000 2000 1'),
    ('members', 'members', '8000000 80000 20 1'),
    ('members', 'memberships', '8000000 80000 8 1'),
    ('invitations', 'invitations', '100000 1000 1'),
    ('invitations', 'invitations_for', '100000 1000 10 1'),
    ('sanctions', 'sanctions', '100000 1000 2 2 1'),
    ('sanctions', 'sanctions_of', '100000 1000 10 2'),
    ('messages', 'messages_places', '100000000 1000000 250 1'),
    ('messages', 'messages_ids', '100000000 1000000 1'),
    ('messages', 'messages_sent', '100000000 1000000 100 1'),
    ('messages', 'messages_changed', '10000000 100000 25 1'),
    ('edits', 'edits', '1000000 10000 10 2 1'),
    ('reactions', 'reactions', '10000000 100000 100 4 2 1'),
    ('reactions', 'reactions_by', '10000000 100000 10'),
    ('mentions', 'mentions', '10000000 100000 10 2 1'),
    ('reports', 'reports', '100000 1000 1'),
    ('reports', 'reports_open', '10000 100 10 1'),
    ('reports', 'reports_by', '100000 1000 10 1 1'),
    ('audit', 'audit', '1000000 10000 1'),
    ('audit', 'audit_of', '1000000 10000 10 1'),
    ('revocations', 'revocations', '10000 100 10 1'),
    ('deliveries', 'deliveries', '100000 1000 500 1'),
    ('deliveries', 'deliveries_of', '100000 1000 10');
ANALYZE sqlite_schema;
