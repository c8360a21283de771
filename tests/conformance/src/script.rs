//! What a case does, step by step, as the player carries it out. `README.md` describes the notation.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::bytes::Bytes;
use crate::http::Headers;
use crate::pattern::Pattern;
use crate::syntax;
use crate::websocket::Shape;

/// The steps of one case.
#[derive(Clone, Debug)]
pub(crate) struct Script(pub(crate) Vec<Step>);

/// One step, with the line it was written as.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// As the case file has it, for messages.
    pub(crate) text: String,
    /// What to do.
    pub(crate) deed: Deed,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// A client acts; clients are single letters.
    Act(char, Action),
    /// Carries the steps out once for each value of the name.
    Repeat { name: String, first: u32, last: u32, steps: Vec<Step> },
    /// Carries the steps out again and again until all succeed.
    Eventually(Vec<Step>),
    /// The server's own code broadcasts.
    Broadcast { topic: String, event: String, payload: String },
    /// The server is told to shut down gracefully.
    Drain,
    /// The server's process ends with status 0.
    Exits,
    /// This many channels are alive on the server.
    Live(u64),
    /// Two captured values are not the same.
    Differ(String, String),
}

/// What one client does or expects.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Connects to a WebSocket or long-poll path and expects to be let in.
    Open { target: String, headers: Headers },
    /// Sends a WebSocket handshake and expects nothing yet.
    Upgrade { target: String, headers: Headers },
    /// Sends any HTTP request and expects nothing yet.
    Request { method: String, target: String, headers: Headers, body: Vec<BodyLine> },
    /// Joins a topic with both refs `"1"` and expects to be accepted.
    Join { topic: String, payload: String },
    /// Sends a message of the protocol.
    Send(String),
    /// Sends one WebSocket frame.
    SendFrame(Shape, Bytes),
    /// Expects what comes next.
    Receive(Order, Vec<Expected>),
    /// Passes over text frames until one matches.
    ReadOn(Pattern),
    /// Expects that nothing is waiting: a heartbeat's reply is the next frame.
    Nothing,
    /// Cuts TCP.
    Cut,
    /// Expects something of the answer to what was last asked.
    Check(Check),
    /// Expects what was last received to have come this long after what was last sent.
    Took(RangeInclusive<Duration>),
    /// Sends the GET of a long-poll session.
    StartPoll,
    /// Expects its answer, with this status in the body.
    Polled(u16),
    /// Both.
    Poll(u16),
    /// Posts to the session and expects this status in the body.
    Post { status: u16, headers: Headers, body: Vec<BodyLine> },
}

/// What is expected of an HTTP answer.
#[derive(Clone, Debug)]
pub(crate) enum Check {
    /// This status.
    Status(u16),
    /// This very body.
    Body(String),
    /// A body with these words in it, in any case.
    BodyMentions(String),
    /// A header.
    Header { name: String, value: String },
    /// The lack of a header.
    NoHeader(String),
    /// A JSON body.
    Json(Pattern),
}

/// What is expected to come off a WebSocket, or out of a long-poll session.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// A message as text.
    Text(Pattern),
    /// A binary frame.
    Bytes(Bytes),
    /// A Pong with this data.
    Pong(Bytes),
    /// A Close with the code that our server sends; another server may send one of `permitted`.
    Close { code: u16, permitted: Vec<u16> },
    /// The end of the connection.
    End,
}

/// The order in which a run of expectations must be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As written.
    Given,
    /// The reference leaves it open.
    Any,
    /// Our server keeps it; section 12 lets another one choose.
    GivenByOurs,
}

/// A line of an HTTP body.
#[derive(Clone, Debug)]
pub(crate) struct BodyLine {
    /// The line is repeated this often, with `$i` counting from 1.
    pub(crate) times: u32,
    /// What it says.
    pub(crate) content: BodyContent,
}

/// What a line of a body says.
#[derive(Clone, Debug)]
pub(crate) enum BodyContent {
    /// Text, as it is.
    Text(String),
    /// Bytes, in base64.
    Base64(Bytes),
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Names the line that makes no sense, and why.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        syntax::parse(text).map(Self)
    }
}
