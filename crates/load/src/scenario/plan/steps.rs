//! What a user does.

use std::sync::Arc;
use std::time::Duration;

use super::{
    BarrierId, Connect, Expression, Extractor, HttpRequest, Join, LabelId, Push, Send, VariableId, Wait,
};
use crate::draw::Distribution;
use crate::scenario::template::Template;

/// What a user does.
#[derive(Clone, Debug)]
pub struct Session {
    /// Shown in reports.
    pub name: String,
    /// Its share of the users is its weight by the sum of all weights; 0 or more.
    pub weight: f64,
    /// In order; at the end the user closes what is open, orderly, and is gone.
    pub steps: Vec<Step>,
    /// Label of the whole session's time.
    pub label: LabelId,
}

/// One step, with where it reports.
#[derive(Clone, Debug)]
pub struct Step {
    /// Under which its times are counted besides their kind.
    pub label: Option<LabelId>,
    /// What is done.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Opens the user's WebSocket. A user that has one open fails.
    Connect(Connect),
    /// Phoenix: joins a topic and waits for the reply.
    Join(Join),
    /// Phoenix: leaves a topic and waits for the reply.
    Leave(Template),
    /// Phoenix: pushes an event to a joined topic.
    Push(Push),
    /// Sends one WebSocket message.
    Send(Send),
    /// Waits for what comes in.
    Wait(Wait),
    /// Does nothing for a time counted from the end of the step before; incoming messages are handled meanwhile.
    Think(Distribution),
    /// Waits for the next beat: one interval after the beat before (the first time: after now). When that is past
    /// already, goes on at once; what is sent next counts as intended for the beat.
    Pace(Distribution),
    /// Waits until as many users as there are in the run at this barrier have come, or the time is over: then all go
    /// on at once.
    Barrier {
        /// Which.
        barrier: BarrierId,
        /// How many users, over all machines: each machine waits for its part of them. `None` is all of the run's plan
        /// that have not finished.
        users: Option<u64>,
        /// Afterwards the users go on all the same, and the barrier is reported as incomplete.
        timeout: Duration,
    },
    /// Does steps again and again.
    Loop(Loop),
    /// Chooses.
    If {
        /// What is asked.
        condition: Condition,
        /// Done when it holds.
        then: Vec<Step>,
        /// Done when it does not.
        otherwise: Vec<Step>,
    },
    /// Chooses one branch by weight.
    Choose(Vec<(f64, Vec<Step>)>),
    /// Gives a variable a value.
    Set(VariableId, Expression),
    /// Takes a value out of the last message or response into a variable; empty text where nothing matches.
    Capture(VariableId, Extractor),
    /// One HTTP request and its response.
    Http(HttpRequest),
    /// Steps whose time together is reported under the step's label.
    Transaction(Vec<Step>),
    /// Closes the WebSocket with the closing handshake.
    Close {
        /// Status code of the close frame.
        code: u16,
        /// Its reason, at most 123 bytes.
        reason: String,
    },
    /// Drops the connection without a close frame: the server sees a reset.
    Cut,
    /// Keeps the connection open and says and hears nothing more on it for so long, then cuts it.
    HalfOpen(Duration),
    /// From here on reads at most so many bytes per second; 0 reads nothing. `None` reads at full speed again.
    SlowReader(Option<u64>),
    /// Has done all that it came for, and stays as it is until the run ends: such a user does not hold up the end of
    /// the run, and still gets what others say until the drain is over.
    Stay,
    /// Ends the user's session as failed (`false`) or the whole run (`true`).
    Abort(bool),
}

/// How often steps are done.
#[derive(Clone, Debug)]
pub struct Loop {
    /// How often at most; `None` is for ever.
    pub times: Option<Distribution>,
    /// For how long at most: no new round begins afterwards.
    pub during: Option<Duration>,
    /// Another round is done as long as this holds: asked before each round, or after it with `at_end`.
    pub condition: Option<Condition>,
    /// The condition is asked after each round, so one is done at least.
    pub at_end: bool,
    /// Counts the rounds, from 1, if named.
    pub counter: Option<VariableId>,
    /// What is done.
    pub steps: Vec<Step>,
}

/// A comparison. Numbers compare as numbers where both sides are numbers, else as text.
#[derive(Clone, Debug)]
pub struct Condition {
    /// One side.
    pub left: Template,
    /// How.
    pub comparison: Comparison,
    /// The other.
    pub right: Template,
}

/// How two values compare.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// Same.
    Equal,
    /// Not the same.
    NotEqual,
    /// Greater.
    Greater,
    /// Greater or the same.
    GreaterOrEqual,
    /// Less.
    Less,
    /// Less or the same.
    LessOrEqual,
    /// The left side matches; the right side is not used.
    Matches(Arc<regex::Regex>),
    /// The left side does not match; the right side is not used.
    DoesNotMatch(Arc<regex::Regex>),
}
