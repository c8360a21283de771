//! The protocol between controller and agent: one JSON value per line, over TCP or TLS.
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
//! word (to all, when its condition is met)   →
//! stop or abort (if requested)               →
//!                                            ←  published (when its users are gone)
//! word (what all published)                  →
//!                                            ←  log … (if requested)
//!                                            ←  end
//! ```
//!
//! Either side considers the other gone when the connection ends or when nothing was received for [`SILENCE_MAX`];
//! before `go` an agent waits as long as another agent may take to prepare. `hello` and `refused` keep their format in
//! all versions, so that two versions can report that they differ.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::token::Token;
use crate::doctor::Examination;
use crate::ledger::Publications;
use crate::player::{Standing, Word};
use crate::statistics::{ErrorExample, GeneratorFacts, MachineFacts, Statistics};

/// Version of this protocol.
pub const PROTOCOL: u32 = 4;
/// Maximum silence before the other side is considered gone.
pub const SILENCE_MAX: Duration = Duration::from_secs(10);
/// How often each side sends something during a run.
pub const BEAT: Duration = Duration::from_secs(1);
/// Timeout for opening a connection, and for the greeting.
pub(super) const GREETING_MAX: Duration = Duration::from_secs(5);
/// Timeout for an agent to read the scenario, examine its machine and measure its floor, and for ready agents to wait
/// for the others.
pub(super) const PREPARATION_MAX: Duration = Duration::from_secs(120);
/// Maximum message size before the greeting is complete, in bytes.
pub(super) const GREETING_BYTES_MAX: usize = 16 * 1024;
/// Maximum message size, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Maximum number of files that one scenario may have.
pub const FILES_MAX: usize = 1001;
/// Maximum size of an agent's event log and samples that are sent to its controller, in bytes; larger ones remain on
/// the agent.
pub const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;
/// Size of the part of such a file in one message, in bytes.
pub(super) const LOG_CHUNK_BYTES: usize = 1024 * 1024;
/// Maximum total size of one scenario's files, in bytes.
pub const FILES_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A message from a controller.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromController {
    /// Identifies the controller.
    Hello(Hello),
    /// Asks for the agent's time. Each probe is answered, and shows that the controller is alive.
    Probe {
        /// Returned in the answer.
        number: u64,
    },
    /// What to play; followed by the given number of files.
    Prepare(Box<Prepare>),
    /// One of the scenario's files.
    File(File),
    /// The run begins.
    Go(Go),
    /// To all agents of a run: coordinates what they do together.
    Word(Word),
    /// Like `Player::stop`.
    Stop,
    /// Like `Player::abort`.
    Abort,
}

/// Identifies the controller.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) protocol: u32,
    pub(super) version: String,
    pub(super) token: Option<Token>,
}

/// What to play.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Prepare {
    /// The scenario, in which files have the names of the `file` messages.
    pub(super) scenario: String,
    /// How many files follow.
    pub(super) files: usize,
    /// This agent's index in `weights`.
    pub(super) index: usize,
    /// Each agent's share of the load, as weights.
    pub(super) weights: Vec<f64>,
    /// Distinguishes this run's messages from another run's.
    pub(super) run_tag: u16,
    /// Number of player threads; `None` chooses it automatically.
    pub(super) threads: Option<usize>,
    /// Number of clients for which the doctor checks the machine; `None` uses the agent's share of the scenario's.
    pub(super) clients: Option<u64>,
    /// Whether the targets are checked, too.
    pub(super) looks_at_targets: bool,
    /// Whether the C10K test's random samples are kept.
    pub(super) keeps_samples: bool,
    /// Whether the agent writes an event log, in its own run folder.
    pub(super) log: Log,
    /// Number of connection pairs with which the agent's floor is measured; `None` skips it.
    #[serde(default)]
    pub(super) floor: Option<u32>,
}

/// Formats of an event log, corresponding to `record::LogForm`.
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
    /// By the agent's clock, as in `clock` messages.
    pub(super) start_ns: u64,
    /// The same moment in nanoseconds since the Unix epoch, by the controller's clock.
    pub(super) start_unix_ns: u64,
}

/// A message from an agent.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromAgent {
    /// The controller is accepted.
    Welcome(Welcome),
    /// The controller is refused, and the connection ends.
    Refused(Refusal),
    /// The agent's time, in nanoseconds since the connection was accepted.
    Clock { number: u64, now_ns: u64 },
    /// The agent is ready to play.
    Ready(Box<Ready>),
    /// The agent's users will begin at the requested time, or are late by this much.
    Started { late_us: u64 },
    /// The first errors of each kind not reported before. Sent before the part that counts them.
    Examples(Vec<ErrorExample>),
    /// What was counted since the last part.
    Part(Box<Statistics>),
    /// The progress of the run.
    Progress(Progress),
    /// The agent's state as needed to coordinate all agents; not sent if there is only one agent.
    Standing(Standing),
    /// What the agent's users published, sent once they are gone; not sent if there is only one agent.
    Published(Publications),
    /// The next part of a file in the agent's folder, base64-encoded.
    Log {
        /// The file's name.
        name: String,
        /// The next bytes of the file.
        bytes: String,
    },
    /// The run is over.
    End(Box<End>),
    /// The request cannot be fulfilled, or no longer. The connection ends.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// Identifies the agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Welcome {
    /// Its host name.
    pub(super) name: String,
    /// Its number of cores.
    pub(super) cores: usize,
    /// Its weight relative to other agents.
    pub(super) weight: f64,
}

/// Why a controller is refused.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Refusal {
    /// The agent serves another controller.
    Busy,
    /// The controller's version differs from the agent's.
    Version { version: String, protocol: u32 },
    /// The token does not match, or is missing.
    Token,
}

/// What an agent knows about its machine and its share.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Ready {
    pub(super) examination: Examination,
    /// The result of the floor measurement, as facts about the machine; empty if it was not requested.
    #[serde(default)]
    pub(super) floor: Vec<(String, String)>,
    /// Source addresses, indexed by the numbers in the agent's observations.
    pub(super) sources: Vec<String>,
}

impl Ready {
    /// Returns the facts about the machine in the form used in results.
    pub(super) fn machine(&self) -> MachineFacts {
        let mut facts = MachineFacts::from(&self.examination);
        facts.facts.extend(self.floor.iter().cloned());
        facts
    }
}

/// The progress of a run on one agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) wanted: u64,
    pub(super) active: u64,
    pub(super) connected: u64,
    pub(super) joined: u64,
    pub(super) phase: u64,
    pub(super) draining: bool,
    /// Whether all users have left; what follows are the rest of the results and the event log.
    pub(super) over: bool,
}

/// How a run ended on one agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct End {
    /// Why it ended.
    pub(super) ended_by: String,
    /// Time from the start of the run until its last user had left, in seconds.
    pub(super) seconds: f64,
    /// What was counted since the last part.
    pub(super) rest: Statistics,
    /// The first error of each kind: all of them, including those reported before.
    pub(super) examples: Vec<ErrorExample>,
    /// Facts about the agent as a generator.
    pub(super) generator: GeneratorFacts,
    /// Number of rows in its event log.
    pub(super) log_rows: u64,
    /// The folder on the agent with its event log, if it writes one.
    pub(super) folder: Option<String>,
    /// Parts of the recording that failed, if any.
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
