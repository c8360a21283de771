//! Settings for nodes under test.

use crate::node::histories;
use bus::{Address, Settings, Times};
use std::time::Duration;

/// Generous time limits, for tests that are not about them and share few processors with many others.
const PATIENT: Times = Times {
    connect_max: Duration::from_secs(30),
    answer_max: Duration::from_secs(30),
    lease: Duration::from_secs(30),
    lease_interval: Duration::from_secs(1),
};

/// Returns settings for nodes of one cluster on these servers.
pub(crate) fn settings(urls: &[&str]) -> Settings {
    let instances = urls.iter().map(|url| Address::parse(url).expect("an address")).collect();
    Settings {
        instances,
        prefix: "test".to_owned(),
        certificate_authority: None,
        histories: histories(),
        announced: None,
        times: PATIENT,
    }
}

/// Shortens the time limits for a test that reaches one: soon, but not after a moment without processor time.
pub(crate) fn prompt(settings: Settings) -> Settings {
    let soon = Duration::from_secs(8);
    Settings {
        times: Times { connect_max: soon, answer_max: soon, lease: soon, ..settings.times },
        ..settings
    }
}

/// Shortens the lease for a test that waits until it expires.
pub(crate) fn brief(settings: Settings) -> Settings {
    let (lease, lease_interval) = (Duration::from_secs(3), Duration::from_millis(200));
    Settings { times: Times { lease, lease_interval, ..settings.times }, ..settings }
}
