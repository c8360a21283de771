-- What communities' own sites are to be told. Those with `given_up_ms` are dead letters.
CREATE TABLE deliveries (
    community TEXT NOT NULL,
    endpoint BLOB NOT NULL,
    id BLOB NOT NULL,
    person TEXT NOT NULL,
    holder TEXT NOT NULL,
    body TEXT NOT NULL,
    queued_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    given_up_ms INTEGER,
    why TEXT,
    PRIMARY KEY (community, endpoint, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_of ON deliveries (community, person);
