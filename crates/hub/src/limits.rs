//! Every bound of the hub, in one place. What happens past each is said beside it.

/// Bounds that an operator or a mount may change.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Channels that one connection may have joined. Past it a join is answered `too many channels joined`.
    pub channels_max: usize,
    /// Tracked joins of one topic whose comings and goings are told one by one; a person may have several. Past it
    /// the topic's presence only tells how many people there are.
    pub presence_people_max: usize,
    /// Members on one shard from which on a topic is a crowd, whose deliveries a driver may let wait
    /// ([`crate::Reach`]).
    pub crowd_members_min: usize,
    /// Memory of the histories of all topics whose home one shard is, in bytes. Past it the topic that was idle for
    /// longest loses its history, and who wants to recover there is told so.
    pub history_bytes_max: usize,
    /// Messages that one join may be given as missed. Past it the join is told `too_many`.
    pub recovery_messages_max: usize,
    /// The same in bytes of memory. It must fit into the outbox of a client that does not read yet.
    pub recovery_bytes_max: usize,
    /// Between two joins that this shard begins, in microseconds; 0 is as they come. Who comes sooner waits in line.
    pub join_interval_us: u64,
    /// How long a join may have to wait in line, in microseconds. Past it it is answered `overloaded`, with a time to wait.
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

/// Frames of one connection that wait for a join's decision or a held channel. Past it the connection is closed
/// with 1008.
pub(crate) const PARKED_FRAMES_MAX: usize = 128;
/// The same in bytes.
pub(crate) const PARKED_BYTES_MAX: usize = 1 << 20;
/// Joins begin at once as long as they are no more than come in so long at their pace, in microseconds.
pub(crate) const JOIN_BURST_US: u64 = 10_000;
/// How often those are called whose turn in the line has come, in microseconds.
pub(crate) const JOIN_STEP_US: u64 = 1_000;
/// What a shard that was busy for longer than a step makes up for to those in line, at most, in microseconds.
pub(crate) const JOIN_CATCH_UP_US: u64 = 100_000;
/// Bytes of the payloads of joins in line. Past it a join is answered `overloaded`; one alone may be larger.
pub(crate) const JOIN_LINE_BYTES_MAX: usize = 16 << 20;
/// Publications of one topic that one pass over its members delivers together.
pub(crate) const WALK_BATCH_MAX: usize = 16;
/// Bytes of one dialect that such a pass may join into one write.
pub(crate) const WALK_BATCH_BYTES_MAX: usize = 64 << 10;
/// Publications that may wait in one topic on one shard. Past it the newest is dropped and counted.
pub(crate) const TOPIC_QUEUE_MAX: usize = 4096;
/// The same in bytes of events, payloads and the frame that a publication comes with. One publication alone may be
/// larger.
pub(crate) const TOPIC_QUEUE_BYTES_MAX: usize = 16 << 20;
/// Deliveries that a topic gets before the next owner's topic has its turn.
pub(crate) const WALK_TURN_MAX: usize = 64;
/// Presence changes of one topic in one tick that are each told by a diff of their own; more are merged into one.
pub(crate) const PRESENCE_DIFFS_PER_TICK_MAX: usize = 32;
/// How often a crowd's size is told, in microseconds.
pub(crate) const PRESENCE_COUNT_INTERVAL_US: u64 = 1_000_000;
/// Keys that one join may track. Past it tracking is refused.
pub(crate) const TRACKED_KEYS_MAX: usize = 16;
/// Tasks of one join that may be under way, its holds included. Past it the channel fails and is counted.
pub(crate) const TASKS_PER_JOIN_MAX: u16 = 32;
/// Publications that a home gives at once to a shard that misses some; the shard asks for more when it has queued them.
pub(crate) const CATCH_UP_MESSAGES_MAX: usize = 1024;
/// The same in bytes of memory. One publication alone may be larger.
pub(crate) const CATCH_UP_BYTES_MAX: usize = 4 << 20;
/// Messages that joins are given as missed in one go, in all; the joins that are left wait for the next answer.
pub(crate) const RECOVERY_DELIVERIES_MAX: usize = 4096;
/// How long a home waits before it tells shards that refused a publication, and other nodes, where a topic stands, in
/// microseconds.
pub(crate) const HEADS_INTERVAL_US: u64 = 1_000_000;
/// How often other nodes are told where a topic stands after its last publication, once in that time: what tells of a lost
/// one may be lost itself.
pub(crate) const HEADS_TOLD: u8 = 3;
/// Topics of one pattern whose history ends in one turn; more wait for the next.
pub(crate) const HISTORIES_EXPIRED_MAX: usize = 64;
/// How exactly the order of idle histories is kept, in microseconds.
pub(crate) const IDLE_STEP_US: u64 = 1_000_000;
/// How long a home waits before it asks the bus again for what it could not read, in microseconds.
pub(crate) const RETRY_INTERVAL_US: u64 = 1_000_000;
/// How long a topic is remembered on which this node has no people any more, in microseconds: longer than it takes to
/// notice that the bus is away, which then has not heard of it.
pub(crate) const ANNOUNCED_KEPT_US: u64 = 60_000_000;
/// How long people of other nodes are believed to be there while the bus is away, in microseconds: as long as a lease stands
/// that is not renewed.
pub const PEOPLE_BELIEVED_US: u64 = 7_000_000;
/// Shards that are told at once what the program announces to a crowd, and not by way of the topic's home: with more of them,
/// most have nobody of it.
pub const SHARDS_TOLD_AT_ONCE_MAX: usize = 2;
/// How much earlier than members were told of a gap another node must have lost something for them to know of it by that, in
/// microseconds: more than a turn of a shard takes, whose time is that of its begin. In doubt they are told again.
pub(crate) const LOSS_MARGIN_US: u64 = 100_000;
/// Publications that a home keeps while it reads from the bus what is missing before them. Past it the newest are dropped
/// and read later.
pub(crate) const HELD_MESSAGES_MAX: usize = 1024;
/// The same in bytes. One publication alone may be larger.
pub(crate) const HELD_BYTES_MAX: usize = 4 << 20;
/// Publications of one shard whose publishers wait for the bus. Past it a publisher is answered `overloaded`.
pub(crate) const APPENDS_MAX: usize = 65_536;
/// Topics that are subscribed in one turn when the bus is there again.
pub(crate) const RESUBSCRIBED_MAX: usize = 256;
/// Bytes that a buffer keeps between events. Past it the memory that a large message needed is given back.
pub(crate) const KEPT_BYTES_MAX: usize = 64 << 10;
/// Effects whose memory is kept between events: more than an ordinary turn of the fan-out makes.
pub(crate) const KEPT_EFFECTS_MAX: usize = 1024;

const _: () = assert!(JOIN_STEP_US <= JOIN_BURST_US, "or the pace could not be kept");
const _: () = assert!(WALK_BATCH_MAX <= TOPIC_QUEUE_MAX);
const _: () =
    assert!(CATCH_UP_MESSAGES_MAX <= TOPIC_QUEUE_MAX && CATCH_UP_BYTES_MAX <= TOPIC_QUEUE_BYTES_MAX);
const _: () = assert!(PARKED_FRAMES_MAX > 100, "a client may pipeline a message to each of its channels");
