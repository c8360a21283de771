-- The conversation that a delivery is about, so that both are erased together. Of deliveries from before it is unknown.
ALTER TABLE deliveries ADD COLUMN conversation BYTEA;
CREATE INDEX deliveries_about ON deliveries (community, conversation) WHERE conversation IS NOT NULL;
