//! `throng community`.

use super::super::api_request::{ApiRequest, Form};
use super::super::{Commanded, OperatorError};
use super::part::Part;
use clap::Subcommand;
use hyper::Method;
use serde_json::{Map, Value, json};

/// Communities.
#[derive(Subcommand, Debug)]
pub(crate) enum CommunityCommand {
    /// List communities
    List(Part),
    /// Create a community
    Create {
        /// Its name in URLs: a-z, 0-9, - and _
        id: String,
        /// Its display name [default: the id]
        #[arg(long)]
        name: Option<String>,
    },
    /// Show a community's settings
    Show { id: String },
    /// Replace a community's settings with those of a JSON file (as printed by `show --json`)
    Change {
        id: String,
        /// The file, or - for standard input
        #[arg(long, value_name = "FILE")]
        settings: std::path::PathBuf,
    },
    /// Write everything in a community except its keys to standard output, as one JSON record per line
    Export { id: String },
    /// Delete messages older than the community keeps them, now
    Expire { id: String },
    /// Erase a community and everything in it: people, rooms, messages, keys
    Erase {
        id: String,
        /// Confirm the erasure
        #[arg(long, required = true)]
        yes: bool,
    },
}

impl Commanded for CommunityCommand {
    fn request(&self) -> Result<ApiRequest, OperatorError> {
        let one = |method, id: &str, form| ApiRequest::new(method, &["communities", id], form);
        Ok(match self {
            Self::List(part) => {
                let fields = &["id", "name", "guests", "limits.history_days", "created"];
                part.of(ApiRequest::new(Method::GET, &["communities"], Form::Rows(fields)))
            }
            Self::Create { id, name } => {
                let settings = json!({ "name": name.as_ref().unwrap_or(id) });
                let form = Form::Done(format!(
                    "created the community {id}; create keys for it with `throng key create \
                         {id} …`"
                ));
                ApiRequest::new(Method::POST, &["communities"], form)
                    .body(json!({ "id": id, "settings": settings }))
            }
            Self::Show { id } => one(Method::GET, id, Form::Fields),
            Self::Change { id, settings } => {
                let form = Form::Done(format!("changed the settings of the community {id}"));
                one(Method::PUT, id, form).body(settings_from(settings)?)
            }
            Self::Export { id } => ApiRequest::new(Method::GET, &["communities", id, "export"], Form::Lines),
            Self::Expire { id } => {
                ApiRequest::new(Method::POST, &["communities", id, "retention"], Form::Fields)
            }
            Self::Erase { id, yes: _ } => one(Method::DELETE, id, Form::Fields),
        })
    }
}

/// Reads settings. The fields that `show --json` adds to them are removed, so that its output can be edited and used.
fn settings_from(path: &std::path::Path) -> Result<Value, OperatorError> {
    let wrong = |error: &dyn std::fmt::Display| OperatorError::Input(format!("{}: {error}", path.display()));
    let text = if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin()).map_err(|error| wrong(&error))?
    } else {
        std::fs::read_to_string(path).map_err(|error| wrong(&error))?
    };
    let mut settings: Map<String, Value> = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    settings.remove("id");
    settings.remove("created");
    Ok(Value::Object(settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_were_shown_can_be_given_back() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), r#"{"id": "a", "created": 1, "name": "A"}"#).expect("written");
        assert_eq!(settings_from(file.path()).expect("read"), json!({ "name": "A" }));
    }
}
