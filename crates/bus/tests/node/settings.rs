//! What nodes under test are told.

use crate::node::histories;
use bus::{Address, Settings, Times};
use std::time::Duration;

/// A node whose test is not about time limits: it keeps its patience where many tests share few processors.
const PATIENT: Times = Times {
    connect_max: Duration::from_secs(30),
    answer_max: Duration::from_secs(30),
    lease: Duration::from_secs(30),
    lease_interval: Duration::from_secs(1),
};

/// For nodes of one cluster on these servers.
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

/// What settings have for a test of a time limit that is met: soon, but not when somebody is starved for a moment.
pub(crate) fn prompt(settings: Settings) -> Settings {
    let soon = Duration::from_secs(8);
    Settings {
        times: Times { connect_max: soon, answer_max: soon, lease: soon, ..settings.times },
        ..settings
    }
}

/// What settings have for a test that waits until a lease is over.
pub(crate) fn brief(settings: Settings) -> Settings {
    let (lease, lease_interval) = (Duration::from_secs(3), Duration::from_millis(200));
    Settings { times: Times { lease, lease_interval, ..settings.times }, ..settings }
}
