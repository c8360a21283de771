//! doctor

pub mod visits;
