-- To find the communities that are being erased without reading all.
CREATE INDEX communities_erasing ON communities (erasing_ms) WHERE erasing_ms IS NOT NULL;
