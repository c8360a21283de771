//! The messenger's persistent state: its store, and the installation's secret.

use crate::config::StoreConfig;
use crate::whole_file;
use identity::Outbound;
use messenger::{AddressLimits, InstallationSecret, Messenger, Settings};
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const LOCK_FILE: &str = "server.lock";
const SECRET_FILE: &str = "installation-secret";
const SECRET_BYTES: usize = 32;
const NODE_FILE: &str = "node-name";
const NODE_BYTES: usize = 16;

/// Why the messenger cannot start.
#[derive(Debug)]
pub(crate) enum DurableError {
    /// The store could not be opened.
    Store(store::OpenError),
    /// A file beside the store could not be created or read.
    Secret { path: PathBuf, error: io::Error },
    /// Others can read or write the secret's file; `mode` is its permission bits.
    Exposed { path: PathBuf, mode: u32 },
    /// The secret's file does not contain 32 bytes.
    Malformed { path: PathBuf },
    /// The file with the server's name has another format.
    NotAName { path: PathBuf },
    /// Another server uses this data directory.
    InUse { path: PathBuf },
    /// The default community could not be created.
    Default(chat::Failure),
    /// No thread or runtime could be created.
    System(io::Error),
}

impl fmt::Display for DurableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurableError::Store(error) => write!(f, "the store cannot be opened: {error}"),
            DurableError::Secret { path, error } => {
                write!(
                    f,
                    "{}: {error}: set `data_dir` to a directory that the server can write to",
                    path.display()
                )
            }
            DurableError::Exposed { path, mode } => {
                let path = path.display();
                write!(f, "{path}: other users can access it (mode {mode:o}): run `chmod 600 {path}`")
            }
            DurableError::Malformed { path } => write!(
                f,
                "{}: does not have {SECRET_BYTES} bytes: restore it, or delete it; then every guest becomes a new \
                 guest",
                path.display()
            ),
            DurableError::NotAName { path } => write!(
                f,
                "{}: does not have {} hexadecimal digits: restore it, or delete it; then waiting webhooks are \
                 delayed by a day",
                path.display(),
                2 * NODE_BYTES
            ),
            DurableError::InUse { path } => write!(
                f,
                "{}: another server uses this directory: stop it, or set `data_dir` to another directory",
                path.display()
            ),
            DurableError::Default(failure) => write!(f, "the default community cannot be created: {failure}"),
            DurableError::System(error) => write!(
                f,
                "the system denies a resource that the messenger needs: \
                 {error}"
            ),
        }
    }
}

impl std::error::Error for DurableError {}

/// The messenger, with the lock on the data directory.
pub(crate) struct Durable {
    pub(crate) messenger: Messenger,
    /// The permanent name of this server among several on one store.
    pub(crate) node: String,
    /// The lock is held until this is closed.
    _lock: File,
}

/// Opens the store and creates what must exist. Waits for disk and network.
pub(crate) fn open(
    config: &StoreConfig,
    data_dir: &Path,
    outbound: Outbound,
    address_limits: AddressLimits,
) -> Result<Durable, DurableError> {
    let (lock, secret, node) = (lock(data_dir)?, secret(data_dir)?, node(data_dir)?);
    let store = store::open(config.database(), data_dir).map_err(DurableError::Store)?;
    let cache_bytes_max = config.cache as u64;
    let settings = Settings { cache_bytes_max, secret, outbound: Some(outbound), address_limits };
    let messenger = Messenger::new(store, settings);
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(DurableError::System)?;
    runtime.block_on(messenger.prepare_default()).map_err(DurableError::Default)?;
    messenger.start_housekeeping().map_err(DurableError::System)?;
    Ok(Durable { messenger, node, _lock: lock })
}

/// Locks the data directory, which is created if necessary, until the returned file is closed. Two processes that write
/// one store would not know what the other one announces and caches.
pub(crate) fn lock(data_dir: &Path) -> Result<File, DurableError> {
    let path = data_dir.join(LOCK_FILE);
    let failed = |error| DurableError::Secret { path: path.clone(), error };
    DirBuilder::new().recursive(true).mode(0o700).create(data_dir).map_err(failed)?;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DurableError::InUse { path: data_dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Reads this server's name, or creates it at the first start. Unlike the secret it must not be shared: two servers
/// with one name would send the same webhooks.
fn node(data_dir: &Path) -> Result<String, DurableError> {
    let path = data_dir.join(NODE_FILE);
    let failed = |error| DurableError::Secret { path: path.clone(), error };
    match fs::read_to_string(&path) {
        Ok(name) if name.len() == 2 * NODE_BYTES && name.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            Ok(name)
        }
        Ok(_) => Err(DurableError::NotAName { path }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut random = [0; NODE_BYTES];
            getrandom::fill(&mut random).map_err(|error| failed(io::Error::other(error)))?;
            let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
            // Nobody else creates it meanwhile: the folder is locked.
            whole_file::create(&path, name.as_bytes()).map_err(failed)?;
            Ok(name)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Reads the installation's secret, or creates it at the first start.
fn secret(data_dir: &Path) -> Result<InstallationSecret, DurableError> {
    let path = data_dir.join(SECRET_FILE);
    let failed = |error| DurableError::Secret { path: path.clone(), error };
    if !fs::exists(&path).map_err(failed)? {
        let mut random = [0; SECRET_BYTES];
        getrandom::fill(&mut random).map_err(|error| failed(io::Error::other(error)))?;
        whole_file::create(&path, &random).map_err(failed)?;
    }
    let file = File::open(&path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(DurableError::Exposed { path, mode });
    }
    let mut content = Vec::new();
    file.take(SECRET_BYTES as u64 + 1).read_to_end(&mut content).map_err(failed)?;
    let bytes = content.try_into().map_err(|_| DurableError::Malformed { path: path.clone() })?;
    Ok(InstallationSecret::new(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_secret_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        secret(folder.path()).expect("a secret");
        let path = folder.path().join(SECRET_FILE);
        let first = fs::read(&path).expect("it is there");
        assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o777, 0o600);
        secret(folder.path()).expect("the same secret");
        assert_eq!(fs::read(&path).expect("it is there"), first);
    }

    #[test]
    fn a_server_keeps_its_name_and_no_other_has_it() {
        let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
        let [first, other] = folders.each_ref().map(|folder| node(folder.path()).expect("a name"));
        assert_ne!(first, other);
        assert_eq!(node(folders[0].path()).expect("a name"), first);
        fs::write(folders[0].path().join(NODE_FILE), "half").expect("it is ours");
        assert!(matches!(node(folders[0].path()), Err(DurableError::NotAName { .. })));
    }

    #[test]
    fn a_second_server_does_not_get_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("new");
        let first = lock(&folder).expect("nobody has it");
        assert!(matches!(lock(&folder), Err(DurableError::InUse { .. })));
        drop(first);
        assert!(lock(&folder).is_ok());
    }

    #[test]
    fn a_secret_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        secret(folder.path()).expect("a secret");
        let path = folder.path().join(SECRET_FILE);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert!(matches!(secret(folder.path()), Err(DurableError::Exposed { mode: 0o644, .. })));
    }
}
