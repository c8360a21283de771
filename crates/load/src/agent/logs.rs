//! Transfers an agent's event log into the controller's run folder, so that the whole run can be recounted.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::link::{Link, LinkError};
use super::protocol::{FromAgent, LOG_BYTES_MAX, LOG_CHUNK_BYTES};
use crate::record::AGENT_FILES;

/// Why a log is incomplete on the controller.
pub(super) enum SendError {
    /// The connection to the controller has failed.
    Link(LinkError),
    /// The log remains on the agent, for this reason.
    Stays(String),
}

/// Sends the files of an agent's folder that a recount needs.
pub(super) fn send(folder: &Path, link: &mut Link) -> Result<(), SendError> {
    let unreadable = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| SendError::Stays(format!("cannot send {path} to the controller: {error}"))
    };
    let present: Vec<PathBuf> =
        AGENT_FILES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect();
    let mut bytes = 0;
    for path in &present {
        bytes += path.metadata().map_err(unreadable(path))?.len();
    }
    if bytes > LOG_BYTES_MAX {
        return Err(SendError::Stays(format!(
            "its event log has {bytes} bytes, more than the maximum of {LOG_BYTES_MAX} that is sent: it \
             stays in {}",
            folder.display()
        )));
    }
    for path in present {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = File::open(&path).map_err(unreadable(&path))?;
        loop {
            let mut chunk = Vec::new();
            let limit = LOG_CHUNK_BYTES as u64;
            (&file).take(limit).read_to_end(&mut chunk).map_err(unreadable(&path))?;
            if chunk.is_empty() {
                break;
            }
            let message = FromAgent::Log { name: name.clone(), bytes: STANDARD.encode(&chunk) };
            link.send(&message).map_err(SendError::Link)?;
        }
    }
    Ok(())
}

/// Stores one agent's files on the controller.
pub(super) struct Kept {
    folder: PathBuf,
    left: u64,
    /// Why the files are incomplete, if they are.
    pub(super) loss: Option<String>,
}

impl Kept {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, left: LOG_BYTES_MAX, loss: None }
    }

    /// Appends to a file. After the first failure nothing more is written.
    pub(super) fn add(&mut self, name: &str, bytes: &str) {
        if self.loss.is_some() {
            return;
        }
        if let Err(error) = self.append(name, bytes) {
            self.loss = Some(format!("{}: {error}", self.folder.join(name).display()));
        }
    }

    fn append(&mut self, name: &str, bytes: &str) -> io::Result<()> {
        // Other names could escape the folder.
        if !AGENT_FILES.contains(&name) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "unexpected file name"));
        }
        let bytes =
            STANDARD.decode(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left =
            left.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "it exceeds the maximum size"))?;
        std::fs::create_dir_all(&self.folder)?;
        File::options().create(true).append(true).open(self.folder.join(name))?.write_all(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_put_together_in_the_agents_folder_and_nowhere_else() {
        let home = tempfile::tempdir().expect("a folder");
        let mut kept = Kept::new(home.path().join("agents").join("1"));
        for bytes in ["one, ", "two"] {
            kept.add("events.csv", &STANDARD.encode(bytes));
        }
        assert_eq!(kept.loss, None);
        let text = std::fs::read_to_string(home.path().join("agents/1/events.csv")).expect("a file");
        assert_eq!(text, "one, two");
        kept.add("../events.csv", &STANDARD.encode("three"));
        assert!(kept.loss.is_some() && !home.path().join("agents/events.csv").exists());
    }

    #[test]
    fn what_is_no_base64_and_what_is_too_long_is_refused() {
        let home = tempfile::tempdir().expect("a folder");
        let mut kept = Kept::new(home.path().to_owned());
        kept.add("events.csv", "~");
        assert!(kept.loss.is_some());
        let mut kept = Kept { left: 2, ..Kept::new(home.path().to_owned()) };
        kept.add("events.csv", &STANDARD.encode("abc"));
        assert!(kept.loss.is_some_and(|loss| loss.contains("maximum size")));
    }
}
