//! All bounds of the bus in one place, each with what happens beyond it.

use std::time::Duration;

/// Requests of this node that may wait for an instance of the engine before publications on ephemeral topics are
/// dropped and counted, and those on recoverable topics are answered `overloaded`.
pub(crate) const QUEUE_LEN_SOFT_MAX: usize = 65_536;
/// The same for all other requests, which must not be lost: beyond it the connection is closed, and the node sends its
/// whole state again.
pub(crate) const QUEUE_LEN_MAX: usize = 1 << 20;
/// The soft bound in bytes of payloads.
pub(crate) const QUEUE_BYTES_SOFT_MAX: usize = 64 << 20;
/// Total weight of the requests that are sent together; most weigh one. All of them must be answered within
/// [`ANSWER_TIME_MAX`].
pub(crate) const BATCH_WEIGHT_MAX: usize = 256;
/// Weight of a read of a history or of people, whose answer may be long.
pub(crate) const QUESTION_WEIGHT: usize = 32;
/// Payload bytes that are sent together. A single publication may be larger.
pub(crate) const BATCH_BYTES_MAX: usize = 8 << 20;
/// Ephemeral topics whose losses this node remembers until it has informed the other nodes. Beyond it, a loss is only
/// counted.
pub(crate) const LOST_TOPICS_MAX: usize = 10_000;
/// The same in bytes of their names.
pub(crate) const LOST_TOPICS_BYTES_MAX: usize = 4 << 20;
/// Topics whose losses are reported to other nodes at once; the next ones follow after an interval.
pub(crate) const LOST_TOLD_MAX: usize = 512;
/// That interval.
pub(crate) const LOST_TOLD_INTERVAL: Duration = Duration::from_millis(25);
/// How long losses that occur while the engine is up are gathered before other nodes are informed.
pub(crate) const LOST_GATHERED: Duration = Duration::from_secs(1);
/// Publications of one topic that are held. On Redis until the hub knows the topic's position: beyond it the newest are
/// dropped and read later. On NATS until their predecessors have arrived: beyond it they wait no longer.
pub(crate) const HELD_LEN_MAX: usize = 1024;
/// The same in bytes.
pub(crate) const HELD_BYTES_MAX: usize = 1 << 20;
/// Messages of one topic that NATS delivered and this node has not handled yet. Beyond it messages are lost, so the
/// connection is closed: recoverable publications are read again, and members of other topics get a gap.
pub(crate) const SUBSCRIPTION_LEN_MAX: usize = 4096;
/// Publications of a history that are read at once.
pub(crate) const READ_MESSAGES_MAX: usize = 512;
/// The same in bytes. A single publication may be larger.
pub(crate) const READ_BYTES_MAX: usize = 1 << 20;

/// Time limit for connecting to an engine. Beyond it the engine counts as away.
pub(crate) const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);
/// Time limit for an engine's answer. Beyond it the engine counts as away.
pub(crate) const ANSWER_TIME_MAX: Duration = Duration::from_millis(1500);
/// How long a node's lease is valid without renewal: how long the people of a killed node remain visible.
pub(crate) const LEASE_TIME: Duration = Duration::from_secs(7);
/// How often it is renewed and the other nodes' leases are checked: the minimum rate at which an engine must answer.
pub(crate) const LEASE_INTERVAL: Duration = Duration::from_millis(400);
/// How long an engine may be silent on an open connection before that is noticed: members then learn soon that they may
/// have missed something.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(2);
/// Topics of a node with an expired lease that are cleared at a time.
pub(crate) const REAPED_TOPICS_MAX: usize = 1000;
/// How long the version of a node's people is kept on a topic without any.
pub(crate) const NOBODY_KEPT: Duration = Duration::from_secs(60);
/// How long a topic's place in the order is remembered beyond its history while nothing happens.
pub(crate) const PLACE_KEPT: Duration = Duration::from_secs(24 * 3600);

/// Maximum wait before an engine that is away is tried again.
pub(crate) const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// The first wait.
pub(crate) const BACKOFF_MIN: Duration = Duration::from_millis(100);

const _: () = assert!(QUEUE_LEN_SOFT_MAX < QUEUE_LEN_MAX);
const _: () = assert!(
    LOST_GATHERED.as_millis() + LOST_TOLD_INTERVAL.as_millis() * (LOST_TOPICS_MAX / LOST_TOLD_MAX) as u128
        <= 2_000,
    "members elsewhere are told within two seconds"
);
const _: () = assert!(LEASE_INTERVAL.as_millis() * 3 + ANSWER_TIME_MAX.as_millis() < LEASE_TIME.as_millis());
const _: () = assert!(
    LEASE_TIME.as_millis() + ANSWER_TIME_MAX.as_millis() + LEASE_INTERVAL.as_millis() <= 10_000,
    "nobody of a node that was killed is seen for longer than ten seconds"
);
const _: () = assert!(
    hub::PEOPLE_BELIEVED_US as u128 == LEASE_TIME.as_micros()
        && SILENCE_MAX.as_millis() + LEASE_TIME.as_millis() <= 10_000,
    "nor while the engine is away"
);
const _: () = assert!(
    LEASE_INTERVAL.as_millis() + ANSWER_TIME_MAX.as_millis() < SILENCE_MAX.as_millis(),
    "an engine that falls silent right after an answer is asked after an interval, and then has its time to answer"
);
