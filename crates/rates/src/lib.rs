//! Rate limits by key: how much each person, address or caller may do in a minute, in a burst or evenly.
//!
//! A bucket starts full and fills evenly. A full bucket carries no information and is dropped, so memory is bounded by
//! those who did something recently. It reads no clock.

mod budget;
mod budgets;
mod rate;

pub use budgets::Budgets;
pub use rate::Rate;
