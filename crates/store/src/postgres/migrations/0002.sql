-- An empty token stands for all of a person's that were issued up to `until_s`.
CREATE TABLE revocations (
    community TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    until_s BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    ends_ms BIGINT NOT NULL,
    PRIMARY KEY (community, person, token)
);
