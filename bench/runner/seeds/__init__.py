"""The load tests that the project began with, on one small machine: then and now."""
