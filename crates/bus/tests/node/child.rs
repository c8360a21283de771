//! What servers under test have in common: a folder whose state can be put back, a port, and settings to find them.

use crate::node::histories;
use bus::{Address, Settings, Times};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A server's files.
pub(crate) struct Folder {
    current: TempDir,
    saved: Option<TempDir>,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder { current: tempfile::tempdir().expect("a folder"), saved: None }
    }

    pub(crate) fn path(&self) -> &Path {
        self.current.path()
    }

    /// Keeps the files as they are now.
    pub(crate) fn save(&mut self) {
        let saved = tempfile::tempdir().expect("a folder");
        copy(self.current.path(), saved.path());
        self.saved = Some(saved);
    }

    /// Puts the files back that were saved.
    pub(crate) fn restore(&mut self) {
        self.current = self.saved.take().expect("files were saved");
    }
}

/// A node whose test is not about time limits: it keeps its patience where many tests share few processors.
const PATIENT: Times = Times {
    connect_max: Duration::from_secs(30),
    answer_max: Duration::from_secs(30),
    lease: Duration::from_secs(30),
    lease_interval: Duration::from_secs(1),
};

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

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            fs::create_dir(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
