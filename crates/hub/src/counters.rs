//! What a shard's hub has done, as plain numbers that its driver publishes.

/// Totals since the start, except where a field says otherwise.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Connections that are open now.
    pub connections: u64,
    /// Joins that stand now.
    pub joined: u64,
    /// Topics with state on this shard now.
    pub topics: u64,
    /// Joins that were accepted.
    pub joins: u64,
    /// Joins that were refused, for whatever reason.
    pub joins_refused: u64,
    /// Messages that clients sent.
    pub messages_in: u64,
    /// Messages for one client: replies, pushes, closes.
    pub messages_out: u64,
    /// Publications that this shard took for its members.
    pub publications: u64,
    /// Messages delivered by publications, one for each member.
    pub deliveries: u64,
    /// Publications dropped because their topic's queue was full.
    pub publications_dropped: u64,
    /// Members that could not be given a publication in their dialect (bytes to a V1 client).
    pub undeliverable: u64,
    /// Channels that ended by a panic, by reporting a failure, or for too many tasks.
    pub channels_failed: u64,
    /// Connections closed for a message that could not be decoded.
    pub undecodable: u64,
    /// Connections closed because too much waited for a join or a held channel.
    pub parked_overflows: u64,
    /// Publications on recoverable topics that were given their place, counted at the topics' homes.
    pub appends: u64,
    /// Those that were not: too much waited, or the bus was away.
    pub appends_refused: u64,
    /// How often a shard saw that publications of a recoverable topic were missing.
    pub gaps: u64,
    /// How often everything that was missing was there in the end.
    pub gaps_healed: u64,
    /// How often members were told that something is lost to them.
    pub gaps_told: u64,
    /// Joins that were given what they missed.
    pub recoveries: u64,
    /// Joins that asked for what they missed, and were told why they do not get it.
    pub recoveries_refused: u64,
}
