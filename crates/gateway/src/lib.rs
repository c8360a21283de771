//! What a programmer imports: mounts, channels and shards, on the engine, the protocol and the hub.
