-- The row up to which words are in the search index. Later rows are searched as they stand until they are put there together.
CREATE TABLE indexed (last_row INTEGER NOT NULL) STRICT;
INSERT INTO indexed (last_row) SELECT coalesce(max(row), 0) FROM messages;
