//! A server's files, whose state can be put back.

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
