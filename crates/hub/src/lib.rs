//! One shard as a pure state machine: connections, joins, topics, fan-out, presence.
