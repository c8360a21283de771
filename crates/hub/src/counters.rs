//! What a shard's hub has done, as plain numbers that its driver publishes.

macro_rules! counters {
    ($($(#[$about:meta])+ $name:ident,)+) => {
        /// Totals since the start, except where a field says otherwise.
        #[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$about])+ pub $name: u64,)+
        }

        impl Counters {
            /// The number of counters.
            pub const COUNT: usize = [$(stringify!($name)),+].len();

            /// Returns all of them, in the order of the fields.
            pub fn to_array(self) -> [u64; Counters::COUNT] {
                [$(self.$name),+]
            }

            /// The inverse of [`Counters::to_array`].
            pub fn from_array([$($name),+]: [u64; Counters::COUNT]) -> Counters {
                Counters { $($name),+ }
            }
        }
    };
}

counters! {
    /// Connections that are open now.
    connections,
    /// Joins that are established now.
    joined,
    /// Topics with state on this shard now.
    topics,
    /// Joins that were accepted.
    joins,
    /// Joins that were refused, for whatever reason.
    joins_refused,
    /// Joins that wait in line now.
    joins_waiting,
    /// Joins that had to wait in line.
    joins_queued,
    /// Joins that were refused because the line was too long.
    joins_overloaded,
    /// Messages that clients sent.
    messages_in,
    /// Messages for one client: replies, pushes, closes.
    messages_out,
    /// Publications that this shard took for its members.
    publications,
    /// Messages delivered by publications, one for each member.
    deliveries,
    /// Publications dropped because their topic's queue was full.
    publications_dropped,
    /// Members that could not be given a publication in their dialect (bytes to a V1 client).
    undeliverable,
    /// Channels that ended by a panic, by reporting a failure, or for too many tasks.
    channels_failed,
    /// Connections closed for a message that could not be decoded.
    undecodable,
    /// Connections closed because too much waited for a join or a held channel.
    parked_overflows,
    /// Publications on recoverable topics that were given their place, counted at the topics' homes.
    appends,
    /// Those that were not: too much waited, or the bus was away.
    appends_refused,
    /// How often a shard saw that publications of a recoverable topic were missing, or that those of an ephemeral one may be,
    /// since the bus was away.
    gaps,
    /// How often everything that was missing was there in the end.
    gaps_healed,
    /// How often members were told that something is lost to them.
    gaps_told,
    /// Joins that were given what they missed.
    recoveries,
    /// Joins that asked for what they missed, and were told why they do not get it.
    recoveries_refused,
}
