//! Every bound of the bus, in one place. What happens past each is said beside it.

use std::time::Duration;

/// Wishes of this node that may wait for an engine's instance before publications on ephemeral topics are dropped and
/// counted, and those on recoverable topics are answered `overloaded`.
pub(crate) const QUEUE_LEN_SOFT_MAX: usize = 65_536;
/// The same for everything else, which may not be lost: past it the connection is given up, and the node tells everything
/// anew.
pub(crate) const QUEUE_LEN_MAX: usize = 1 << 20;
/// The soft bound in bytes of payloads.
pub(crate) const QUEUE_BYTES_SOFT_MAX: usize = 64 << 20;
/// Weight of the wishes that go out together, each of which weighs one: the answers to all of them are to be there within
/// [`ANSWER_TIME_MAX`].
pub(crate) const BATCH_WEIGHT_MAX: usize = 256;
/// What a question for a history or for people weighs: its answer may be long.
pub(crate) const QUESTION_WEIGHT: usize = 32;
/// Bytes of payloads that go out together. One publication alone may be larger.
pub(crate) const BATCH_BYTES_MAX: usize = 8 << 20;
/// Ephemeral topics of which this node remembers that something was lost to other nodes, until it has told them. Past it the
/// publication is counted, and nobody is told of it.
pub(crate) const LOST_TOPICS_MAX: usize = 10_000;
/// The same in bytes of their names.
pub(crate) const LOST_TOPICS_BYTES_MAX: usize = 4 << 20;
/// Topics of which other nodes are told at once that something was lost; the next follow an interval later.
pub(crate) const LOST_TOLD_MAX: usize = 512;
/// That interval.
pub(crate) const LOST_TOLD_INTERVAL: Duration = Duration::from_millis(25);
/// How long what is lost while the engine is there is gathered before other nodes are told.
pub(crate) const LOST_GATHERED: Duration = Duration::from_secs(1);
/// Publications of one topic that are held: on Redis until the hub has been told where it stands, past it the newest are
/// dropped and read later; on NATS until what they follow has come, past it they wait no longer.
pub(crate) const HELD_LEN_MAX: usize = 1024;
/// The same in bytes.
pub(crate) const HELD_BYTES_MAX: usize = 1 << 20;
/// Messages of one topic that NATS delivered and this node has not taken yet. Past it they are lost, and so the connection
/// is given up: what is recoverable is read, and members of other topics are told of a gap.
pub(crate) const SUBSCRIPTION_LEN_MAX: usize = 4096;
/// Publications of a history that are read at once.
pub(crate) const READ_MESSAGES_MAX: usize = 512;
/// The same in bytes. One publication alone may be larger.
pub(crate) const READ_BYTES_MAX: usize = 1 << 20;

/// How long an engine may take to accept a connection. Past it the engine is away.
pub(crate) const CONNECT_TIME_MAX: Duration = Duration::from_secs(3);
/// How long an engine may take to answer. Past it the engine is away.
pub(crate) const ANSWER_TIME_MAX: Duration = Duration::from_millis(1500);
/// How long a node's lease stands without being renewed: how long the people of a node that was killed are seen.
pub(crate) const LEASE_TIME: Duration = Duration::from_secs(7);
/// How often it is renewed, and the other nodes' are looked at. So often an engine must answer at the least.
pub(crate) const LEASE_INTERVAL: Duration = Duration::from_millis(400);
/// How long an engine may be silent, while its connection stands, before that is noticed: members then learn soon that they
/// may have missed something.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(2);
/// Topics of a node whose lease is over that are cleared at a time.
pub(crate) const REAPED_TOPICS_MAX: usize = 1000;
/// How long the version of a node's people is kept on a topic where it has none any more.
pub(crate) const NOBODY_KEPT: Duration = Duration::from_secs(60);
/// How much longer than its history a topic's place in the order is remembered while nothing happens.
pub(crate) const PLACE_KEPT: Duration = Duration::from_secs(24 * 3600);

/// Longest wait before an engine that is away is tried again.
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
