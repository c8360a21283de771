//! The doctor: what a machine is, how many connections it can hold, and which setting stops it first.
//!
//! Reading and judging are separate. [`Facts::read`] only reads; [`diagnose`] only judges, so that facts from another
//! machine, or from a file, are judged in the same way. What a machine is judged for is a [`Requirements`]: to play clients, or
//! to serve them. [`print()`] writes both for people, and [`Diagnosis::settings`] is what to paste into the machine's
//! configuration.
//!
//! Nothing here ever changes a setting, opens a connection or generates load: it names the command, and leaves it to
//! the user. The program that tests a server reads the facts about that server.

pub mod amounts;
mod bounds;
mod checks;
mod diagnosis;
mod examination;
mod facts;
mod listing;
mod print;
mod read;
mod reading;
mod scene;
mod settings;
mod target;
mod target_checks;

pub use bounds::{
    Bound, CLIENT_BYTES, DESCRIPTORS_RESERVED, KERNEL_BYTES_PER_END, Resource, SERVED_BYTES, TLS_BYTES,
};
pub use checks::{Check, State};
pub use diagnosis::{Diagnosis, diagnose};
pub use examination::Examination;
pub use facts::{
    ClockFacts, Conntrack, DescriptorFacts, Facts, MemoryFacts, NetworkFacts, OwnAddress, PortFacts,
    ProcessorFacts,
};
pub use print::{Colours, print};
pub use reading::Reading;
pub use scene::{Budget, Configured, Requirements, Role, Sources};
pub use settings::{Place, Setting};
pub use target::{HttpAnswer, ProcessFacts, Resolution, TargetFacts};
