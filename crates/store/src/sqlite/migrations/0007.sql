-- Since when a community is being erased, if it is.
ALTER TABLE communities ADD COLUMN erasing_ms INTEGER;
