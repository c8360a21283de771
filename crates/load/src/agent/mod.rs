//! A run on many machines: agents that play users, and the controller that commands them.
//!
//! An agent ([`serve()`]) waits for a controller, examines its machine, plays its share of the users and sends its
//! statistics, second by second. The [`Controller`] gives each agent its share by weight, starts all at the same moment
//! by their own clocks, and adds up their statistics; [`RemoteRun`] is the run in progress. An agent that is lost takes
//! its users with it and nothing else. `docs/stampede-agents.md` has the protocol and its guarantees.
//!
//! Where users of several agents depend on each other (barriers, phases that wait, the end of the run) the agents
//! report their state, and the controller answers all of them. Neither side judges anything: agents count like a run on
//! one machine, and the controller adds.

mod bundle;
mod clock;
mod controller;
mod error;
mod examples;
mod link;
mod logs;
mod protocol;
mod remote;
mod rendezvous;
mod serve;
mod session;
mod token;
mod totals;
mod transport;

pub use bundle::BundleError;
pub use clock::{Offset, Probe, error_between_us};
pub use controller::{Agents, Controller, Request};
pub use error::AgentError;
pub use link::LinkError;
pub use protocol::{
    BEAT, FILES_BYTES_MAX, FILES_MAX, LOG_BYTES_MAX, MESSAGE_BYTES_MAX, PROTOCOL, SILENCE_MAX,
};
pub use remote::{RemoteEnd, RemoteRun};
pub use serve::{AgentOptions, ServeError, serve};
pub use token::Token;
pub use transport::{ConnectError, TlsError};
