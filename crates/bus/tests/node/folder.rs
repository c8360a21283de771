//! A server's data folder, whose state can be saved and restored.

use std::fs;
use std::path::Path;
use tempfile::TempDir;

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

    /// Saves a copy of the files.
    pub(crate) fn save(&mut self) {
        let saved = tempfile::tempdir().expect("a folder");
        copy(self.current.path(), saved.path());
        self.saved = Some(saved);
    }

    /// Restores the saved files.
    pub(crate) fn restore(&mut self) {
        self.current = self.saved.take().expect("files were saved");
    }
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
