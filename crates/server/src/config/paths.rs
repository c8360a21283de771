//! Default locations of files: the XDG base directories, which must be absolute and are ignored otherwise.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Returns `$XDG_CONFIG_HOME/throng/throng.toml`, if the environment has a home directory.
pub(crate) fn config_file(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    Some(base(environment, "XDG_CONFIG_HOME", ".config")?.join("throng").join("throng.toml"))
}

/// Returns `$XDG_DATA_HOME/throng`, if the environment has a home directory.
pub(crate) fn data_dir(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    Some(base(environment, "XDG_DATA_HOME", ".local/share")?.join("throng"))
}

/// Returns the value of an environment variable.
pub(crate) fn variable<'a>(environment: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    environment.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_os_str())
}

fn base(environment: &[(OsString, OsString)], name: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name| variable(environment, name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(name).or_else(|| Some(absolute("HOME")?.join(below_home)))
}
