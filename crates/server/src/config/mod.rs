//! Configuration, in two stages. *As written*: a TOML file, `THRONG_…` variables and flags, merged in this order
//! ([`written`]). *As meant*: typed values ([`meant`]), validated during the conversion ([`reading`]). The table of
//! settings ([`key`]) is the only list of keys. A mistake is an error that names its place, never a silent default.

mod bus;
mod error;
mod histories;
mod key;
mod meant;
mod networks;
mod origins;
mod paths;
mod print;
mod profile;
mod raw;
mod reading;
mod secret;
mod shape;
mod written;

#[cfg(test)]
mod tests;

pub(crate) use error::{ConfigError, ConfigErrors};
pub(crate) use meant::{
    BudgetSetting, BusConfig, Config, HistoryConfig, LogConfig, LogFormat, ProxyProtocol, ShutdownConfig,
    SocketConfig, StoreConfig, TlsConfig,
};
pub(crate) use print::default_file;
pub(crate) use profile::Profile;
pub(crate) use written::{Flag, Sources};

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use written::Written;

/// A configuration together with its sources.
pub(crate) struct Loaded {
    pub(crate) config: Config,
    written: Written,
}

impl Loaded {
    /// Merges the sources and checks every value; reports all mistakes at once.
    pub(crate) fn from_sources(sources: &Sources) -> Result<Loaded, ConfigErrors> {
        let mut errors = Vec::new();
        let mut written = Written::read(sources, &mut errors);
        let config = Config::from_written(&mut written, &sources.environment, &mut errors);
        if errors.is_empty() { Ok(Loaded { config, written }) } else { Err(ConfigErrors(errors)) }
    }

    /// Formats every effective setting as TOML, with its place.
    pub(crate) fn print(&self) -> String {
        print::in_force(&self.written)
    }
}

impl Sources {
    /// Reads the environment, and the file named by `--config` or `THRONG_CONFIG`, or the one in the XDG configuration
    /// directory. Only a named file must exist.
    pub(crate) fn collect(named_file: Option<PathBuf>, flags: Vec<Flag>) -> Result<Sources, ConfigErrors> {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let named = named_file
            .or_else(|| paths::variable(&environment, key::CONFIG_FILE_VARIABLE).map(PathBuf::from));
        let must_exist = named.is_some();
        let file = match named.or_else(|| paths::config_file(&environment)) {
            None => None,
            Some(path) => match fs::read_to_string(&path) {
                Ok(text) => Some((path, text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => None,
                Err(error) => return Err(ConfigErrors(vec![ConfigError::Unreadable { path, error }])),
            },
        };
        Ok(Sources { file, environment, flags })
    }
}
