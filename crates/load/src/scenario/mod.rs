//! Scenarios: as written (YAML) and as meant ([`plan::Plan`]).

pub mod plan;
pub mod template;
