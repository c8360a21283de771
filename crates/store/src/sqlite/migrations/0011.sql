-- To find the communities that are being erased without reading all.
CREATE INDEX communities_erasing ON communities (erasing_ms) WHERE erasing_ms IS NOT NULL;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('communities', 'communities_erasing', '10 1');
ANALYZE sqlite_schema;
