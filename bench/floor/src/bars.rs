//! Targets that a good floor reaches on the reference machine (2 cores) when it is idle. A slower result means a broken
//! floor or a machine with other work.

use std::fmt;

/// A figure with its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) bar: Option<Bar>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Bar {
    MoreThan(f64),
    LessThan(f64),
}

/// For connecting, upgrading and joining.
pub(crate) const CONNECTIONS_PER_SECOND: Bar = Bar::MoreThan(25_000.0);

/// With one message in flight on each of 100 connections, on one thread.
pub(crate) const ECHOES_PER_SECOND: Bar = Bar::MoreThan(150_000.0);

/// To 10,000 receivers.
pub(crate) const CPU_US_PER_DELIVERY: Bar = Bar::LessThan(10.5);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<44} {:>12.2} {}", self.name, self.value, self.unit)?;
        match self.bar {
            None => Ok(()),
            Some(Bar::MoreThan(bar)) => write!(f, "  (bar: > {bar}, {})", reached(self.value > bar)),
            Some(Bar::LessThan(bar)) => write!(f, "  (bar: < {bar}, {})", reached(self.value < bar)),
        }
    }
}

fn reached(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "MISSED" }
}
