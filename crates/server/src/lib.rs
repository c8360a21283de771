//! The throng binary: configuration, wiring, HTTP API, metrics, drain.
