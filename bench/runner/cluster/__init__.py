"""Several nodes with a Redis between them, beside one alone: what the bus costs, and what happens when a node dies."""
