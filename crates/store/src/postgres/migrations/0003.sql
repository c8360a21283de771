-- What communities' own sites are to be told. Those with `given_up_ms` are dead letters.
CREATE TABLE deliveries (
    community TEXT COLLATE "C" NOT NULL,
    endpoint BYTEA NOT NULL,
    id BYTEA NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    queued_ms BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    given_up_ms BIGINT,
    why TEXT,
    PRIMARY KEY (community, endpoint, id)
);
CREATE INDEX deliveries_of ON deliveries (community, person);
