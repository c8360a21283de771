//! Detects changed files by polling: that also detects a retargeted symbolic link, which is how container platforms
//! replace mounted secrets.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Identifies a file's content without reading it.
#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    modified: Option<SystemTime>,
    inode: u64,
    bytes: u64,
}

/// A set of files that change together.
pub(crate) struct FileWatch {
    paths: Vec<PathBuf>,
    reported: Vec<Option<Stamp>>,
    last_seen: Vec<Option<Stamp>>,
}

impl FileWatch {
    /// Takes the current state of the files as known.
    pub(crate) fn new(paths: &[&Path]) -> FileWatch {
        let paths: Vec<PathBuf> = paths.iter().map(|path| (*path).to_owned()).collect();
        let stamps = stamps(&paths);
        FileWatch { paths, reported: stamps.clone(), last_seen: stamps }
    }

    /// Returns whether the files changed and then stayed the same from one call to the next, so that nobody is still
    /// writing the second of two files. Each change is reported once.
    pub(crate) fn look(&mut self) -> bool {
        let now = stamps(&self.paths);
        let settled = now == self.last_seen && now != self.reported;
        if settled {
            self.reported.clone_from(&now);
        }
        self.last_seen = now;
        settled
    }
}

fn stamps(paths: &[PathBuf]) -> Vec<Option<Stamp>> {
    let stamp = |path: &PathBuf| {
        let metadata = fs::metadata(path).ok()?;
        Some(Stamp { modified: metadata.modified().ok(), inode: metadata.ino(), bytes: metadata.len() })
    };
    paths.iter().map(stamp).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_reported_once_when_it_has_settled() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        fs::write(&first, "1").expect("written");
        fs::write(&second, "1").expect("written");
        let mut watch = FileWatch::new(&[&first, &second]);
        assert!(!watch.look());

        fs::write(&first, "longer").expect("written");
        assert!(!watch.look(), "somebody may still be writing");
        fs::write(&second, "longer").expect("written");
        assert!(!watch.look(), "the second file has just changed");
        assert!(watch.look());
        assert!(!watch.look());
    }

    #[test]
    fn a_file_that_is_replaced_by_one_of_the_same_length_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, other) = (folder.path().join("file"), folder.path().join("other"));
        fs::write(&file, "1").expect("written");
        let mut watch = FileWatch::new(&[&file]);
        fs::write(&other, "2").expect("written");
        fs::rename(&other, &file).expect("renamed");
        assert!(!watch.look());
        assert!(watch.look());
    }
}
