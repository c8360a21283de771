-- The conversation that a delivery is about, so that both are erased together. Of deliveries from before it is unknown.
ALTER TABLE deliveries ADD COLUMN conversation BLOB;
CREATE INDEX deliveries_about ON deliveries (community, conversation) WHERE conversation IS NOT NULL;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('deliveries', 'deliveries_about', '100000 1000 10');
ANALYZE sqlite_schema;
