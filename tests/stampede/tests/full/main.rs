//! What needs Throng, the servers of others, or time: `make stampede`.
