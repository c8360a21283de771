-- One report of a person and message: the first. Those of keys and of erased people, whose names begin with `~`, stay.
DELETE FROM reports WHERE (community, id) IN (
    SELECT community, id FROM (
        SELECT community, id, row_number() OVER (
            PARTITION BY community, conversation, seq, by_person ORDER BY id
        ) AS nth
        FROM reports WHERE substr(by_person, 1, 1) <> '~'
    ) AS alike WHERE nth > 1
);
CREATE UNIQUE INDEX reports_by ON reports (community, conversation, seq, by_person)
    WHERE substr(by_person, 1, 1) <> '~';
