-- When a part of what there is of a person was erased last, if they are being erased.
ALTER TABLE people ADD COLUMN erasing_ms INTEGER;
CREATE INDEX people_erasing ON people (erasing_ms) WHERE erasing_ms IS NOT NULL;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('people', 'people_erasing', '10 1');
ANALYZE sqlite_schema;
