-- An empty token stands for all of a person's that were issued up to `until_s`.
CREATE TABLE revocations (
    community TEXT NOT NULL,
    person TEXT NOT NULL,
    token TEXT NOT NULL,
    until_s INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    ends_ms INTEGER NOT NULL,
    PRIMARY KEY (community, person, token)
) STRICT, WITHOUT ROWID;
