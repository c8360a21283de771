//! Errors in a configuration. Each message names the place, the setting, and the remedy.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Where a setting was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    /// In the configuration file; line and column count from 1, the column in characters.
    File { path: PathBuf, line: usize, column: usize },
    /// In the environment variable of this name.
    Variable(String),
    /// In this command line flag.
    Flag(String),
    /// Among the defaults of the chosen profile.
    Profile(&'static str),
    /// Nowhere: it is the default.
    Default,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Place::Variable(name) => f.write_str(name),
            Place::Flag(flag) => f.write_str(flag),
            Place::Profile(name) => write!(f, "profile {name}"),
            Place::Default => f.write_str("default"),
        }
    }
}

/// One error in the configuration.
#[derive(Debug)]
pub(crate) enum ConfigError {
    /// The configuration file cannot be read.
    Unreadable { path: PathBuf, error: io::Error },
    /// The file is not TOML.
    NotToml { place: Place, message: String },
    /// No setting has this name. `nearest` is one that may have been meant.
    UnknownKey { place: Place, key: String, nearest: Option<String> },
    /// A value was given for the name of a table.
    TableExpected { place: Place, table: String },
    /// A variable with our prefix does not belong to a setting.
    UnknownVariable { name: String, nearest: Option<String> },
    /// The value is not UTF-8.
    NotUnicode { place: Place },
    /// The value does not have the setting's shape; `expected` completes "write …".
    BadValue { place: Place, key: &'static str, value: String, expected: String },
    /// A setting needs another one that is missing, or something in it.
    Missing { place: Place, key: &'static str, needs: &'static str, remedy: &'static str },
    /// Two settings conflict.
    Conflict { place: Place, key: &'static str, other: &'static str, remedy: &'static str },
    /// `data_dir` is automatic, but the environment has no home directory.
    NoHome,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Unreadable { path, error } => {
                write!(f, "{}: cannot be read ({error}): specify the configuration file with --config", path.display())
            }
            ConfigError::NotToml { place, message } => write!(f, "{place}: not valid TOML: {message}"),
            ConfigError::UnknownKey { place, key, nearest: Some(nearest) } => {
                write!(f, "{place}: unknown key `{key}`: did you mean `{nearest}`?")
            }
            ConfigError::UnknownKey { place, key, nearest: None } => {
                write!(f, "{place}: unknown key `{key}`: remove it; `throng config default` lists every key")
            }
            ConfigError::TableExpected { place, table } => {
                write!(f, "{place}: `{table}` is a table: write [{table}] with its keys below it")
            }
            ConfigError::UnknownVariable { name, nearest: Some(nearest) } => {
                write!(f, "{name}: unknown environment variable: did you mean {nearest}?")
            }
            ConfigError::UnknownVariable { name, nearest: None } => {
                write!(f, "{name}: unknown environment variable: unset it; variables are named THRONG_ and the key \
                     in capitals")
            }
            ConfigError::NotUnicode { place } => write!(f, "{place}: the value is not valid UTF-8"),
            ConfigError::BadValue { place, key, value, expected } => {
                write!(f, "{place}: `{key}` is {value}: write {expected}")
            }
            ConfigError::Missing { place, key, needs, remedy } => {
                write!(f, "{place}: `{key}` needs `{needs}`: {remedy}")
            }
            ConfigError::Conflict { place, key, other, remedy } => {
                write!(f, "{place}: `{key}` is the same as `{other}`: {remedy}")
            }
            ConfigError::NoHome => f.write_str(
                "default: `data_dir` is \"auto\", but neither XDG_DATA_HOME nor HOME is set: set `data_dir` to a \
                 directory",
            ),
        }
    }
}

/// All errors in the configuration, in the order in which they were found; never empty.
#[derive(Debug)]
pub(crate) struct ConfigErrors(pub(crate) Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ConfigError::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for ConfigErrors {}
