//! `throng key`.

use super::super::api_request::{ApiRequest, Form};
use super::super::{Commanded, OperatorError};
use super::times::{duration, end_ms};
use clap::Subcommand;
use hyper::Method;
use serde_json::json;
use std::time::Duration;

/// Keys of a community.
#[derive(Subcommand, Debug)]
pub(crate) enum KeyCommand {
    /// List keys, including revoked ones
    List { community: String },
    /// Create a key for programs that use the API; it is shown only once
    Create {
        /// Id of the community
        community: String,
        /// A name for it
        #[arg(long)]
        name: String,
        /// Permissions: send, list, moderate, manage_rooms, manage_people, manage_settings, publish, presence
        #[arg(long, value_delimiter = ',', required = true)]
        scopes: Vec<String>,
        /// How long it is valid, such as 30d [default: until it is revoked]
        #[arg(long, value_name = "TIME", value_parser = duration)]
        lasts: Option<Duration>,
    },
    /// Accept people's tokens that are signed with this key
    Trust {
        /// Id of the community
        community: String,
        /// A name for it
        #[arg(long)]
        name: String,
        /// HS256, RS256, ES256 or EdDSA
        #[arg(long)]
        algorithm: String,
        /// The id by which tokens refer to it (`kid`)
        #[arg(long)]
        kid: Option<String>,
        /// File with the public key in PEM format, or for HS256 with the secret
        #[arg(long, value_name = "FILE")]
        file: std::path::PathBuf,
    },
    /// Accept people's tokens that are signed with keys that the host site publishes (JWKS)
    TrustPublished {
        /// Id of the community
        community: String,
        /// A name for them
        #[arg(long)]
        name: String,
        /// Address of the key set, such as https://example.org/.well-known/jwks.json
        #[arg(long)]
        url: String,
    },
    /// Revoke a key permanently
    Revoke {
        /// Id of the community
        community: String,
        /// Its id, as shown by `list`
        key: String,
    },
}

impl Commanded for KeyCommand {
    fn request(&self) -> Result<ApiRequest, OperatorError> {
        let all = |method, community: &str, form| {
            ApiRequest::new(method, &["communities", community, "keys"], form)
        };
        Ok(match self {
            Self::List { community } => all(
                Method::GET,
                community,
                Form::Rows(&["id", "kind", "name", "prefix", "scopes", "algorithm", "url", "revoked"]),
            ),
            Self::Create { community, name, scopes, lasts } => {
                let mut purpose = json!({ "kind": "server", "scopes": scopes });
                if let Some(lasts) = lasts {
                    purpose["not_after_s"] = (end_ms(*lasts) / 1_000).into();
                }
                let note = "store it safely: it is not shown again";
                all(Method::POST, community, Form::Once { field: "key", note })
                    .body(json!({ "name": name, "purpose": purpose }))
            }
            Self::Trust { community, name, algorithm, kid, file } => {
                let material = std::fs::read_to_string(file)
                    .map_err(|error| OperatorError::Input(format!("{}: {error}", file.display())))?;
                let material = if algorithm == "HS256" { material.trim_end().to_owned() } else { material };
                let purpose =
                    json!({ "kind": "token", "algorithm": algorithm, "kid": kid, "material": material });
                let form = Form::Done(format!(
                    "tokens for {community} that are signed with this key are now accepted"
                ));
                all(Method::POST, community, form).body(json!({ "name": name, "purpose": purpose }))
            }
            Self::TrustPublished { community, name, url } => {
                let purpose = json!({ "kind": "jwks", "url": url });
                let form = Form::Done(format!(
                    "tokens for {community} that are signed with a key of this set are now accepted"
                ));
                all(Method::POST, community, form).body(json!({ "name": name, "purpose": purpose }))
            }
            Self::Revoke { community, key } => {
                let form = Form::Done("revoked".to_owned());
                ApiRequest::new(Method::DELETE, &["communities", community, "keys", key], form)
            }
        })
    }
}
