//! The doctor: what a machine is, what it can hold, and which setting stops it first.
//!
//! Reading and judging are apart. [`Facts::read`] and [`TargetFacts::read`] look and never judge; [`diagnose`] judges
//! and never looks, so that facts that came from another machine, or from a file, are judged alike. Nothing here ever
//! changes a setting: it says the command, and leaves it to the person.

mod amounts;
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
mod target;
mod target_checks;
pub mod visits;

pub use bounds::{Bound, CLIENT_BYTES, DESCRIPTORS_RESERVED, KERNEL_BYTES_PER_END, Resource, TLS_BYTES};
pub use checks::{Check, State};
pub use diagnosis::{Diagnosis, diagnose};
pub use examination::Examination;
pub use facts::{
    ClockFacts, Conntrack, DescriptorFacts, Facts, MemoryFacts, NetworkFacts, OwnAddress, PortFacts,
    ProcessorFacts,
};
pub use print::{Colours, print};
pub use reading::Reading;
pub use scene::Wish;
pub use target::{HttpAnswer, ProcessFacts, Resolution, TargetAddress, TargetFacts};
