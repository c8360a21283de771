//! Several shards of the hub under one seed and a virtual clock.
