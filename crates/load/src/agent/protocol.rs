//! What a controller and an agent say to each other: one JSON value a line, over TCP or TLS.
//!
//! ```text
//! controller                                    agent
//! hello                                      →
//!                                            ←  welcome, or refused
//! probe …                                    →
//!                                            ←  clock …
//! prepare, file …                            →
//!                                            ←  ready
//! go                                         →
//!                                            ←  started
//! probe (each second)                        →
//!                                            ←  clock, examples, part and progress (each second)
//!                                            ←  standing (when it has changed)
//! word (to all, when they have come so far)  →
//! stop or abort (if so)                      →
//!                                            ←  published (when its users are gone)
//! word (what all published)                  →
//!                                            ←  log … (if it is asked for)
//!                                            ←  end
//! ```
//!
//! Either side is gone for the other when its connection ends or when nothing was heard of it for [`SILENCE_MAX`]; before
//! `go` an agent is patient for as long as another one may take to prepare.
//! `hello` and `refused` keep their form in all versions, so that two versions can tell each other that they differ.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::token::Token;
use crate::doctor::Examination;
use crate::ledger::Publications;
use crate::player::{Standing, Word};
use crate::statistics::{ErrorExample, GeneratorFacts, MachineFacts, Statistics};

/// Version of this protocol.
pub const PROTOCOL: u32 = 3;
/// Whoever was not heard of for so long is gone.
pub const SILENCE_MAX: Duration = Duration::from_secs(10);
/// How often either side says something while a run goes on.
pub const BEAT: Duration = Duration::from_secs(1);
/// How long a connection may take to be opened, and to say who it is.
pub(super) const GREETING_MAX: Duration = Duration::from_secs(5);
/// How long an agent may take to read the scenario, to look at its machine and to measure its floor; and how long those
/// that are ready wait for the others.
pub(super) const PREPARATION_MAX: Duration = Duration::from_secs(120);
/// Bytes of one message of somebody who has not yet said who it is.
pub(super) const GREETING_BYTES_MAX: usize = 16 * 1024;
/// Bytes of one message.
pub const MESSAGE_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Files that one scenario may bring.
pub const FILES_MAX: usize = 1001;
/// Bytes of an agent's event log and samples that it sends to its controller; larger ones stay on the agent.
pub const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;
/// Bytes of such a file in one message.
pub(super) const LOG_CHUNK_BYTES: usize = 1024 * 1024;
/// Bytes of all files that one scenario brings.
pub const FILES_BYTES_MAX: usize = 256 * 1024 * 1024;

/// What a controller says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromController {
    /// Who it is.
    Hello(Hello),
    /// Asks for the agent's time. Each question is answered, and shows that the controller is there.
    Probe {
        /// Tells the answer.
        number: u64,
    },
    /// What is to be played; so many files follow.
    Prepare(Box<Prepare>),
    /// One of the scenario's files.
    File(File),
    /// The run begins.
    Go(Go),
    /// To all agents of a run: what they do together.
    Word(Word),
    /// As `Player::stop`.
    Stop,
    /// As `Player::abort`.
    Abort,
}

/// Who the controller is.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) protocol: u32,
    pub(super) version: String,
    pub(super) token: Option<Token>,
}

/// What is to be played.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Prepare {
    /// The scenario; its files have the names of the `file` messages.
    pub(super) scenario: String,
    /// How many files follow.
    pub(super) files: usize,
    /// This agent's place in `weights`.
    pub(super) index: usize,
    /// What each agent takes of the load.
    pub(super) weights: Vec<f64>,
    /// Tells this run's messages from another run's.
    pub(super) run_tag: u16,
    /// Threads with connections, if not as many as it takes.
    pub(super) threads: Option<usize>,
    /// How many clients the machine is looked at for; its share of the scenario's if this is not said.
    pub(super) clients: Option<u64>,
    /// Whether the targets are looked at too.
    pub(super) looks_at_targets: bool,
    /// Whether the C10K test's random samples are kept.
    pub(super) keeps_samples: bool,
    /// Whether the agent keeps an event log, in a run's folder of its own.
    pub(super) log: Log,
    /// How many pairs the agent's floor is measured with, if it is.
    #[serde(default)]
    pub(super) floor: Option<u32>,
}

/// Forms of an event log, as `record::LogForm` has them.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Log {
    None,
    Csv,
    Zstd,
}

/// A file that the scenario names.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) content: String,
}

/// When the run begins.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Go {
    /// By the agent's clock, as `clock` messages show it.
    pub(super) start_ns: u64,
    /// The same moment in nanoseconds since 1970, by the controller's clock.
    pub(super) start_unix_ns: u64,
}

/// What an agent says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromAgent {
    /// The controller may go on.
    Welcome(Welcome),
    /// The controller may not, and the connection ends.
    Refused(Refusal),
    /// The agent's time, in nanoseconds since the connection was accepted.
    Clock { number: u64, now_ns: u64 },
    /// It can play what was asked for.
    Ready(Box<Ready>),
    /// Its users will come at the time that was said, or are so late.
    Started { late_us: u64 },
    /// What the first errors said of kinds of which nothing was said before. They go before the part that counts them.
    Examples(Vec<ErrorExample>),
    /// What was counted since the last part.
    Part(Box<Statistics>),
    /// Where the run stands.
    Progress(Progress),
    /// Where it stands with what all agents do together; not where it is the only one.
    Standing(Standing),
    /// Its users are gone; this is what they published. Not where it is the only one.
    Published(Publications),
    /// The next bytes of a file of its folder, in base64.
    Log {
        /// The file's name.
        name: String,
        /// What comes next in it.
        bytes: String,
    },
    /// The run is over.
    End(Box<End>),
    /// What was asked for cannot be done, or not any longer. The connection ends.
    Failed {
        /// Why.
        reason: String,
    },
}

/// Who the agent is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Welcome {
    /// Its host's name.
    pub(super) name: String,
    /// Its cores.
    pub(super) cores: usize,
    /// What it takes of the load beside others.
    pub(super) weight: f64,
}

/// Why a controller may not go on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Refusal {
    /// It serves another controller.
    Busy,
    /// The controller is of another version than this one.
    Version { version: String, protocol: u32 },
    /// The token is another one, or there is none.
    Token,
}

/// What an agent knows of its machine and of its part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Ready {
    pub(super) examination: Examination,
    /// What the floor came to, as a machine's facts have it; nothing where it was not asked for.
    #[serde(default)]
    pub(super) floor: Vec<(String, String)>,
    /// Source addresses, by the index that its observations name them by.
    pub(super) sources: Vec<String>,
}

impl Ready {
    /// The machine as results carry it.
    pub(super) fn machine(&self) -> MachineFacts {
        let mut facts = MachineFacts::from(&self.examination);
        facts.facts.extend(self.floor.iter().cloned());
        facts
    }
}

/// Where a run stands on one agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) wanted: u64,
    pub(super) active: u64,
    pub(super) connected: u64,
    pub(super) joined: u64,
    pub(super) phase: u64,
    pub(super) draining: bool,
}

/// How a run ended on one agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct End {
    /// What ended it.
    pub(super) ended_by: String,
    /// What was counted since the last part.
    pub(super) rest: Statistics,
    /// What the first error of each kind said: all of them, those that were said before too.
    pub(super) examples: Vec<ErrorExample>,
    /// What the agent did itself.
    pub(super) generator: GeneratorFacts,
    /// Rows of its event log.
    pub(super) log_rows: u64,
    /// The folder on the agent with its event log, if it keeps one.
    pub(super) folder: Option<String>,
    /// What could not be kept of the run, if anything.
    pub(super) losses: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::example::stream;

    #[test]
    fn what_was_counted_survives_the_way() {
        let mut counted = Statistics::with_samples(3);
        stream(1, 5_000, 20).iter().for_each(|seen| counted.observe(seen));
        let text = serde_json::to_string(&FromAgent::Part(Box::new(counted.clone()))).expect("JSON");
        assert!(!text.contains('\n'));
        let FromAgent::Part(read) = serde_json::from_str(&text).expect("the same") else {
            panic!("another message")
        };
        assert_eq!(read.counts(), counted.counts());
        assert_eq!(read.series(), counted.series());
    }

    #[test]
    fn a_hello_of_a_later_protocol_can_be_read() {
        let later = r#"{"hello":{"protocol":9,"version":"9.0.0","token":null,"moon":"full"}}"#;
        let FromController::Hello(hello) = serde_json::from_str(later).expect("a hello") else {
            panic!("another message")
        };
        assert_eq!((hello.protocol, hello.version.as_str()), (9, "9.0.0"));
    }
}
