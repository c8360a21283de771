//! What a user does.

use std::sync::Arc;
use std::time::Duration;

use super::{
    BarrierId, Connect, Expression, Extractor, HttpRequest, Join, LabelId, Push, Send, VariableId, Wait,
};
use crate::draw::Distribution;
use crate::scenario::template::Template;

/// The behaviour of one kind of user.
#[derive(Clone, Debug)]
pub struct Session {
    /// Shown in reports.
    pub name: String,
    /// The session's share of the users is its weight divided by the sum of all weights; 0 or more.
    pub weight: f64,
    /// Executed in order; at the end the user closes its connections cleanly and is gone.
    pub steps: Vec<Step>,
    /// Label for the duration of the whole session.
    pub label: LabelId,
}

/// One step and the label it reports under.
#[derive(Clone, Debug)]
pub struct Step {
    /// A label for its times, in addition to the metric of its kind.
    pub label: Option<LabelId>,
    /// What the step does.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Opens the user's WebSocket. Fails if the user already has one open.
    Connect(Connect),
    /// Phoenix: joins a topic and waits for the reply.
    Join(Join),
    /// Phoenix: leaves a topic and waits for the reply.
    Leave(Template),
    /// Phoenix: pushes an event to a joined topic.
    Push(Push),
    /// Sends one WebSocket message.
    Send(Send),
    /// Waits for incoming messages.
    Wait(Wait),
    /// Idles for a time measured from the end of the previous step; incoming messages are handled meanwhile.
    Think(Distribution),
    /// Waits for the next beat: one interval after the previous beat (the first time: after now). If that time has
    /// already passed, continues at once; the next message's intended send time is the beat.
    Pace(Distribution),
    /// Waits until the number of users at this barrier has been reached or the timeout has passed; then all continue at
    /// once.
    Barrier {
        /// Which barrier.
        barrier: BarrierId,
        /// The number of users over all machines; each machine waits for its share. `None` means all planned users of
        /// the run that have not finished.
        users: Option<u64>,
        /// After this the users continue anyway, and the barrier is reported as incomplete.
        timeout: Duration,
    },
    /// Repeats steps.
    Loop(Loop),
    /// Executes one of two branches, depending on a condition.
    If {
        /// The condition.
        condition: Condition,
        /// Executed if it holds.
        then: Vec<Step>,
        /// Executed if it does not.
        otherwise: Vec<Step>,
    },
    /// Chooses one branch at random, by weight.
    Choose(Vec<(f64, Vec<Step>)>),
    /// Assigns a variable.
    Set(VariableId, Expression),
    /// Extracts a value from the last message or response into a variable; empty text if nothing matches.
    Capture(VariableId, Extractor),
    /// One HTTP request and its response.
    Http(HttpRequest),
    /// Steps whose total time is reported under the step's label.
    Transaction(Vec<Step>),
    /// Closes the WebSocket with the closing handshake.
    Close {
        /// Status code of the close frame.
        code: u16,
        /// Reason in the close frame, at most 123 bytes.
        reason: String,
    },
    /// Drops the connection without a close frame: the server sees a reset.
    Cut,
    /// Keeps the connection open without sending or reading anything for this long, then drops it.
    HalfOpen(Duration),
    /// From here on, reads at most this many bytes per second; 0 reads nothing. `None` restores full speed.
    SlowReader(Option<u64>),
    /// Idles until the run ends. Such a user does not delay the end of the run, and still receives messages until the
    /// drain is over.
    Stay,
    /// Ends the user's session as failed (`false`) or the whole run (`true`).
    Abort(bool),
}

/// How steps are repeated.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Maximum number of rounds; `None` is unlimited.
    pub times: Option<Distribution>,
    /// Maximum duration: no round starts after it.
    pub during: Option<Duration>,
    /// Repeats while this holds; evaluated before each round, or after it with `at_end`.
    pub condition: Option<Condition>,
    /// Evaluates the condition after each round, so at least one round runs.
    pub at_end: bool,
    /// Variable that holds the number of the round, from 1.
    pub counter: Option<VariableId>,
    /// The steps to repeat.
    pub steps: Vec<Step>,
}

/// A comparison of two values: numeric if both are numbers, else textual.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Left side.
    pub left: Template,
    /// Operator.
    pub comparison: Comparison,
    /// Right side.
    pub right: Template,
}

/// A comparison operator.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// The left side matches; the right side is not used.
    Matches(Arc<regex::Regex>),
    /// The left side does not match; the right side is not used.
    DoesNotMatch(Arc<regex::Regex>),
}
