//! `throng key`.

use super::super::errand::{Errand, Form};
use super::super::{Commanded, OperatorError};
use super::times::{duration, end_ms};
use clap::Subcommand;
use hyper::Method;
use serde_json::json;
use std::time::Duration;

/// Keys of a community.
#[derive(Subcommand, Debug)]
pub(crate) enum KeyCommand {
    /// List keys, the revoked too
    List { community: String },
    /// Make a key with which programs use the API; it is shown once
    Create {
        community: String,
        /// What you call it
        #[arg(long)]
        name: String,
        /// What it may do: send, list, moderate, manage_rooms, manage_people, manage_settings, publish, presence
        #[arg(long, value_delimiter = ',', required = true)]
        scopes: Vec<String>,
        /// How long it counts, such as 30d [default: until it is revoked]
        #[arg(long, value_name = "TIME", value_parser = duration)]
        lasts: Option<Duration>,
    },
    /// Believe people's tokens that were signed by this key
    Trust {
        community: String,
        /// What you call it
        #[arg(long)]
        name: String,
        /// HS256, RS256, ES256 or EdDSA
        #[arg(long)]
        algorithm: String,
        /// The id by which tokens name it
        #[arg(long)]
        kid: Option<String>,
        /// File with the public key in PEM, or for HS256 with the secret
        #[arg(long, value_name = "FILE")]
        file: std::path::PathBuf,
    },
    /// Revoke a key, for good
    Revoke {
        community: String,
        /// Its id, as `list` shows it
        key: String,
    },
}

impl Commanded for KeyCommand {
    fn errand(&self) -> Result<Errand, OperatorError> {
        let all =
            |method, community: &str, form| Errand::new(method, &["communities", community, "keys"], form);
        Ok(match self {
            Self::List { community } => all(
                Method::GET,
                community,
                Form::Rows(&["id", "kind", "name", "prefix", "scopes", "algorithm", "revoked"]),
            ),
            Self::Create { community, name, scopes, lasts } => {
                let mut purpose = json!({ "kind": "server", "scopes": scopes });
                if let Some(lasts) = lasts {
                    purpose["not_after_s"] = (end_ms(*lasts) / 1_000).into();
                }
                let note = "keep it safe: it is shown this once";
                all(Method::POST, community, Form::Once { field: "key", note })
                    .body(json!({ "name": name, "purpose": purpose }))
            }
            Self::Trust { community, name, algorithm, kid, file } => {
                let material = std::fs::read_to_string(file)
                    .map_err(|error| OperatorError::Wish(format!("{}: {error}", file.display())))?;
                let material = if algorithm == "HS256" { material.trim_end().to_owned() } else { material };
                let purpose =
                    json!({ "kind": "token", "algorithm": algorithm, "kid": kid, "material": material });
                let form = Form::Done(format!("tokens of {community} that were signed by it are believed"));
                all(Method::POST, community, form).body(json!({ "name": name, "purpose": purpose }))
            }
            Self::Revoke { community, key } => {
                let form = Form::Done("revoked".to_owned());
                Errand::new(Method::DELETE, &["communities", community, "keys", key], form)
            }
        })
    }
}
