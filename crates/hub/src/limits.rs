//! All bounds of the hub in one place, each with what happens beyond it.

/// Bounds that an operator or a mount may change.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Channels that one connection may have joined. A further join is answered `too many channels joined`.
    pub channels_max: usize,
    /// Tracked joins of one topic whose changes are sent one by one; a person may have several. Beyond it, the topic's
    /// presence is only the number of people.
    pub presence_people_max: usize,
    /// Number of members on one shard from which a topic is a crowd, whose deliveries a driver may delay
    /// ([`crate::Reach`]).
    pub crowd_members_min: usize,
    /// Memory of the histories of all topics whose home is one shard, in bytes. Beyond it, the topic that has been idle
    /// longest loses its history, and joins that want to recover there are told so.
    pub history_bytes_max: usize,
    /// Missed messages that one join may get. Beyond it, the join is answered `too_many`.
    pub recovery_messages_max: usize,
    /// The same in bytes of memory. It must fit into the outbox of a client that does not read yet.
    pub recovery_bytes_max: usize,
    /// Interval between two joins that this shard begins, in microseconds; 0 for no limit. Earlier joins are queued.
    pub join_interval_us: u64,
    /// How long a join may have to wait in the queue, in microseconds. Beyond it, it is answered `overloaded`, with a
    /// time to wait.
    pub join_wait_us_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            channels_max: 100,
            presence_people_max: 500,
            crowd_members_min: 1024,
            history_bytes_max: 64 << 20,
            recovery_messages_max: 1000,
            recovery_bytes_max: 512 << 10,
            join_interval_us: 0,
            join_wait_us_max: 5_000_000,
        }
    }
}

/// Frames of one connection that wait for a join's decision or a held channel. Beyond it, the connection is closed with
/// 1008.
pub(crate) const PARKED_FRAMES_MAX: usize = 128;
/// The same in bytes.
pub(crate) const PARKED_BYTES_MAX: usize = 1 << 20;
/// Joins begin at once as long as there are no more of them than this time allows at the configured rate, in
/// microseconds.
pub(crate) const JOIN_BURST_US: u64 = 10_000;
/// How often the join queue is served, in microseconds.
pub(crate) const JOIN_STEP_US: u64 = 1_000;
/// How much lost time a shard may make up for when it was busy for longer than a step, in microseconds.
pub(crate) const JOIN_CATCH_UP_US: u64 = 100_000;
/// Payload bytes of the queued joins. Beyond it, a join is answered `overloaded`; a single one may be larger.
pub(crate) const JOIN_LINE_BYTES_MAX: usize = 16 << 20;
/// Publications of one topic that one pass over its members delivers together.
pub(crate) const WALK_BATCH_MAX: usize = 16;
/// Bytes of one dialect that such a pass may join into one write.
pub(crate) const WALK_BATCH_BYTES_MAX: usize = 64 << 10;
/// Publications that may wait in one topic on one shard. Beyond it, new ones are dropped and counted.
pub(crate) const TOPIC_QUEUE_MAX: usize = 4096;
/// The same in bytes of events, payloads and the frame that a publication comes with. A single publication may be
/// larger.
pub(crate) const TOPIC_QUEUE_BYTES_MAX: usize = 16 << 20;
/// Deliveries that a topic gets before the next topic has its turn, if one waits.
pub(crate) const WALK_TURN_MAX: usize = 64;
/// Presence changes of one topic in one tick that are sent as separate diffs; further ones are merged into one.
pub(crate) const PRESENCE_DIFFS_PER_TICK_MAX: usize = 32;
/// How often a crowd's size is sent, in microseconds.
pub(crate) const PRESENCE_COUNT_INTERVAL_US: u64 = 1_000_000;
/// Keys that one join may track. Beyond it, tracking is refused.
pub(crate) const TRACKED_KEYS_MAX: usize = 16;
/// Tasks of one join that may be in progress, including its holds. Beyond it, the channel fails and is counted.
pub(crate) const TASKS_PER_JOIN_MAX: u16 = 32;
/// Publications that a home sends at once to a shard that misses some; the shard requests more when it has queued them.
pub(crate) const CATCH_UP_MESSAGES_MAX: usize = 1024;
/// The same in bytes of memory. A single publication may be larger.
pub(crate) const CATCH_UP_BYTES_MAX: usize = 4 << 20;
/// Missed messages that are delivered to joins in one go, in total; the remaining joins wait for the next answer.
pub(crate) const RECOVERY_DELIVERIES_MAX: usize = 4096;
/// How long a home waits before it sends a topic's position to shards that refused a publication, and to other nodes,
/// in microseconds.
pub(crate) const HEADS_INTERVAL_US: u64 = 1_000_000;
/// How many times, once per interval, other nodes are sent a topic's position after its last publication: the notice of
/// a loss may be lost itself.
pub(crate) const HEADS_TOLD: u8 = 3;
/// Topics of one pattern whose histories expire in one turn; more wait for the next.
pub(crate) const HISTORIES_EXPIRED_MAX: usize = 64;
/// Resolution of the order of idle histories, in microseconds.
pub(crate) const IDLE_STEP_US: u64 = 1_000_000;
/// How long a home waits before it repeats a failed read from the bus, in microseconds.
pub(crate) const RETRY_INTERVAL_US: u64 = 1_000_000;
/// How long a topic is remembered after this node has no people on it any more, in microseconds: longer than it takes
/// to notice that the bus is away and has missed the change.
pub(crate) const ANNOUNCED_KEPT_US: u64 = 60_000_000;
/// How long people of other nodes are assumed to be present while the bus is away, in microseconds: as long as a lease
/// is valid that is not renewed.
pub const PEOPLE_BELIEVED_US: u64 = 7_000_000;
/// Number of shards up to which the program's announcements to a crowd are sent directly to all shards, and not through
/// the topic's home. With more shards, most would have no members of it.
pub const SHARDS_TOLD_AT_ONCE_MAX: usize = 2;
/// Tolerance for losses on other nodes, in microseconds. A loss counts as told only if it is older than the last gap by
/// more than this: longer than a turn of a shard, whose time is that of its start. In doubt members are told again.
pub(crate) const LOSS_MARGIN_US: u64 = 100_000;
/// Publications that a home holds while it reads from the bus what is missing before them. Beyond it, the newest are
/// dropped and read later.
pub(crate) const HELD_MESSAGES_MAX: usize = 1024;
/// The same in bytes. A single publication may be larger.
pub(crate) const HELD_BYTES_MAX: usize = 4 << 20;
/// Publications of one shard whose publishers wait for the bus. Beyond it, a publisher is answered `overloaded`.
pub(crate) const APPENDS_MAX: usize = 65_536;
/// Topics that are subscribed in one turn when the bus is back, or whose people are removed in one when a node is gone.
pub(crate) const RESUBSCRIBED_MAX: usize = 256;
/// Bytes that a buffer keeps between events. Memory beyond it, needed by a large message, is released.
pub(crate) const KEPT_BYTES_MAX: usize = 64 << 10;
/// Effects whose memory is kept between events: more than an ordinary turn of the fan-out makes.
pub(crate) const KEPT_EFFECTS_MAX: usize = 1024;

const _: () = assert!(JOIN_STEP_US <= JOIN_BURST_US, "or the pace could not be kept");
const _: () = assert!(WALK_BATCH_MAX <= TOPIC_QUEUE_MAX);
const _: () =
    assert!(CATCH_UP_MESSAGES_MAX <= TOPIC_QUEUE_MAX && CATCH_UP_BYTES_MAX <= TOPIC_QUEUE_BYTES_MAX);
const _: () = assert!(PARKED_FRAMES_MAX > 100, "a client may pipeline a message to each of its channels");
