//! When things happen: which users arrive when, and the timers of users that are present.
//!
//! Pure arithmetic on the run's nanoseconds. Nothing here reads a clock, sleeps, or knows what a user does.

mod arrival;
mod arrivals;
mod gaps;
mod phase;
mod share;
mod wheel;

pub use arrival::{Arrival, Due, Repeat, ScheduleError};
pub use arrivals::Schedule;
pub use phase::{arrived, users_of};
pub use share::{CYCLE_MAX, Share, ShareError};
pub use wheel::{TICK_NS, Wheel};
