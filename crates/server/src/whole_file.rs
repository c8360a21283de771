//! Files that are either there with their whole content or not there, whatever happens to the process or the machine.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

/// Creates a file that only its owner may read and write (mode 600). Returns `false`, and changes nothing, if there is one.
/// When it returns, file and name are on disk.
///
/// # Errors
/// The folder cannot be written.
pub(crate) fn create(path: &Path, content: &[u8]) -> io::Result<bool> {
    let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        // The name is in the folder, which has to be on disk, too.
        Ok(_) => File::open(folder)?.sync_all().map(|()| true),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_file_is_created_once_for_its_owner_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("name");
        assert!(create(&path, b"first").expect("the folder can be written"));
        assert!(!create(&path, b"second").expect("there is one"));
        assert_eq!(fs::read(&path).expect("it is there"), b"first");
        assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        assert!(create(&folder.path().join("missing/name"), b"").is_err());
    }
}
