//! The configuration as written: which source set which key to what. Layers, each overriding the ones before: defaults,
//! profile, file, environment, flags. Knows keys, but not what a value means.

use super::error::{ConfigError, Place};
use super::key::{self, KEYS, Key, Variable};
use super::raw::Raw;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The sources, already read from the file system and the environment.
#[derive(Default)]
pub(crate) struct Sources {
    /// Path and text of the configuration file, if there is one.
    pub(crate) file: Option<(PathBuf, String)>,
    /// The whole environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Flags that set a key, in the order of the command line.
    pub(crate) flags: Vec<Flag>,
}

/// A command line flag that sets a key.
#[derive(Clone, Debug)]
pub(crate) struct Flag {
    /// The flag as it appears in errors: `--listen` or `--set`.
    pub(crate) name: String,
    /// Dotted path of the key, as the user wrote it.
    pub(crate) key: String,
    /// The value.
    pub(crate) value: String,
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) raw: Raw,
    pub(crate) place: Place,
}

/// The effective entry of every key that was written somewhere.
pub(crate) struct Written {
    entries: BTreeMap<&'static str, Entry>,
}

impl Written {
    /// Merges the sources; mistakes are added to `errors` and skipped.
    pub(crate) fn read(sources: &Sources, errors: &mut Vec<ConfigError>) -> Written {
        let mut written = Written { entries: BTreeMap::new() };
        if let Some((path, text)) = &sources.file {
            written.read_file(path, text, errors);
        }
        written.read_environment(&sources.environment, errors);
        written.read_flags(&sources.flags, errors);
        written
    }

    /// Returns the entry of a key: what was written, or the default.
    pub(crate) fn entry(&self, key: &'static Key) -> Entry {
        let default = || Entry { raw: Raw::literal(key.default), place: Place::Default };
        self.entries.get(key.path).cloned().unwrap_or_else(default)
    }

    /// Adds a profile's values for keys that nobody wrote.
    pub(crate) fn underlay(&mut self, profile: &'static str, values: &[(&'static str, &str)]) {
        for (path, literal) in values {
            let entry = Entry { raw: Raw::literal(literal), place: Place::Profile(profile) };
            self.entries.entry(path).or_insert(entry);
        }
    }

    fn read_file(&mut self, path: &Path, text: &str, errors: &mut Vec<ConfigError>) {
        let document = match DeTable::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let place = place_in_file(path, text, error.span().map_or(0, |span| span.start));
                let message = error.message().replace('\n', ", ");
                return errors.push(ConfigError::NotToml { place, message });
            }
        };
        self.read_table("", document.get_ref(), (path, text), errors);
    }

    /// Reads one table of the file. The map loses the document's order, so entries are sorted by position to report
    /// errors in order.
    fn read_table(
        &mut self,
        table: &str,
        content: &DeTable<'_>,
        (path, text): (&Path, &str),
        errors: &mut Vec<ConfigError>,
    ) {
        let mut items: Vec<(&Spanned<_>, &Spanned<DeValue<'_>>)> = content.iter().collect();
        items.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in items {
            let full = if table.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{table}.{}", name.get_ref())
            };
            let name_place = place_in_file(path, text, name.span().start);
            match (Key::find(&full), value.get_ref()) {
                (Some(key), inner) => {
                    let raw = Raw::of(inner, &text[value.span()]);
                    let place = place_in_file(path, text, value.span().start);
                    self.entries.insert(key.path, Entry { raw, place });
                }
                (None, DeValue::Table(inner)) if key::is_table(&full) => {
                    self.read_table(&full, inner, (path, text), errors);
                }
                (None, _) if key::is_table(&full) => {
                    errors.push(ConfigError::TableExpected { place: name_place, table: full });
                }
                (None, _) => errors.push(unknown_key(name_place, full)),
            }
        }
    }

    fn read_environment(&mut self, environment: &[(OsString, OsString)], errors: &mut Vec<ConfigError>) {
        let mut environment: Vec<_> = environment.iter().collect();
        environment.sort();
        for (name, value) in environment {
            let Some(name) = name.to_str() else { continue };
            let place = Place::Variable(name.to_owned());
            match (key::classify_variable(name), value.to_str()) {
                (Variable::Foreign, _) => {}
                (Variable::Unknown, _) => {
                    let nearest = key::nearest_variable(name);
                    errors.push(ConfigError::UnknownVariable { name: name.to_owned(), nearest });
                }
                (Variable::Sets(_), None) => errors.push(ConfigError::NotUnicode { place }),
                (Variable::Sets(key), Some(value)) => {
                    self.entries.insert(key.path, Entry { raw: Raw::Text(value.to_owned()), place });
                }
            }
        }
    }

    fn read_flags(&mut self, flags: &[Flag], errors: &mut Vec<ConfigError>) {
        for flag in flags {
            let place = Place::Flag(flag.name.clone());
            match Key::find(&flag.key) {
                None => errors.push(unknown_key(place, flag.key.clone())),
                Some(key) => {
                    self.entries.insert(key.path, Entry { raw: Raw::Text(flag.value.clone()), place });
                }
            }
        }
    }
}

fn unknown_key(place: Place, key: String) -> ConfigError {
    let nearest = key::nearest(&key, KEYS.iter().map(|key| key.path.to_owned()));
    ConfigError::UnknownKey { place, key, nearest }
}

fn place_in_file(path: &Path, text: &str, offset: usize) -> Place {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    Place::File { path: path.to_owned(), line, column }
}
