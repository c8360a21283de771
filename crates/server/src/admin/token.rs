//! The bearer token of the administration API: created at the first start, stored in a file that only its owner may
//! read, never printed and never logged.

use crate::whole_file;
use std::fmt::{self, Write as _};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;

const FILE_NAME: &str = "admin-token";
const RANDOM_BYTES: usize = 32;
/// A token chosen by the user must not be guessable, either.
const LENGTH_MIN: usize = 16;
const LENGTH_MAX: usize = 1024;

/// The token that a caller must present.
pub(crate) struct Token {
    text: String,
}

/// Why there is no token.
#[derive(Debug)]
pub(crate) enum TokenError {
    /// The data directory or the file could not be created or read.
    Io { path: PathBuf, error: io::Error },
    /// Others than its owner can read or write the file; `mode` is its permission bits.
    Exposed { path: PathBuf, mode: u32 },
    /// The file does not contain exactly one line of 16 to 1024 printable characters.
    Malformed { path: PathBuf },
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenError::Io { path, error } => {
                write!(
                    f,
                    "{}: {error}: set `data_dir` to a directory that the server can write to",
                    path.display()
                )
            }
            TokenError::Exposed { path, mode } => {
                let path = path.display();
                write!(
                    f,
                    "{path}: other users can access it (mode {mode:o}): run `chmod 600 {path}`, or delete it to \
                     create a new token"
                )
            }
            TokenError::Malformed { path } => write!(
                f,
                "{}: not a line of {LENGTH_MIN} to {LENGTH_MAX} printable characters: delete it to create a new \
                 token",
                path.display()
            ),
        }
    }
}

impl std::error::Error for TokenError {}

impl Token {
    /// Reads the token file of this data directory, or creates both; also returns the path, for messages to the user.
    pub(crate) fn open_or_create(data_dir: &Path) -> Result<(Token, PathBuf), TokenError> {
        let path = data_dir.join(FILE_NAME);
        let failed = |error| TokenError::Io { path: path.clone(), error };
        DirBuilder::new().recursive(true).mode(0o700).create(data_dir).map_err(failed)?;
        if !fs::exists(&path).map_err(failed)? {
            whole_file::create(&path, new_line().map_err(failed)?.as_bytes()).map_err(failed)?;
        }
        Ok((Token { text: read(&path)? }, path))
    }

    /// Returns whether a caller presented the token; takes the same time wherever the two differ.
    pub(crate) fn matches(&self, shown: &str) -> bool {
        self.text.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

/// Returns a new token, as the line of its file.
fn new_line() -> io::Result<String> {
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut line = random.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    line.push('\n');
    Ok(line)
}

fn read(path: &Path) -> Result<String, TokenError> {
    let failed = |error| TokenError::Io { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(TokenError::Exposed { path: path.to_owned(), mode });
    }
    let mut content = Vec::new();
    // One byte too many shows that the file is too long, without reading all of it.
    file.take(LENGTH_MAX as u64 + 2).read_to_end(&mut content).map_err(failed)?;
    let malformed = || TokenError::Malformed { path: path.to_owned() };
    let text = String::from_utf8(content).map_err(|_| malformed())?;
    let token = text.trim_end();
    let sound =
        (LENGTH_MIN..=LENGTH_MAX).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic());
    if sound { Ok(token.to_owned()) } else { Err(malformed()) }
}

/// Never shows the token.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_first_start_makes_a_file_for_its_owner_only_and_the_second_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let data_dir = folder.path().join("deep/data");
        let (first, path) = Token::open_or_create(&data_dir).expect("made");
        assert_eq!(fs::metadata(&path).expect("a file").mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&data_dir).expect("a folder").mode() & 0o777, 0o700);
        assert_eq!(first.text.len(), 2 * RANDOM_BYTES);

        let (second, _) = Token::open_or_create(&data_dir).expect("read");
        assert!(second.matches(&first.text));
        assert!(!second.matches(&first.text[1..]));
        assert!(!second.matches(""));
    }

    #[test]
    fn two_data_directories_have_two_tokens() {
        let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
        let [a, b] = folders.each_ref().map(|folder| Token::open_or_create(folder.path()).expect("made").0);
        assert!(!a.matches(&b.text));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (_, path) = Token::open_or_create(folder.path()).expect("made");
        fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("set");
        let error = Token::open_or_create(folder.path()).expect_err("refused").to_string();
        assert!(error.contains("other users can access it (mode 640): run `chmod 600"), "{error}");
    }

    #[test]
    fn a_file_without_a_proper_token_is_refused() {
        for content in ["", "short\n", "a token with some spaces\n", "line-one-line-one\nline-two\n"] {
            let folder = tempfile::tempdir().expect("a folder");
            let (_, path) = Token::open_or_create(folder.path()).expect("made");
            fs::write(&path, content).expect("written");
            let error = Token::open_or_create(folder.path()).expect_err("refused");
            assert!(matches!(error, TokenError::Malformed { .. }), "{content:?}: {error}");
        }
    }
}
