-- When a part of what there is of a person was erased last, if they are being erased.
ALTER TABLE people ADD COLUMN erasing_ms BIGINT;
CREATE INDEX people_erasing ON people (erasing_ms) WHERE erasing_ms IS NOT NULL;
