//! `throng person`.

use super::super::api_request::{ApiRequest, Form};
use super::super::{Commanded, OperatorError};
use super::part::Part;
use clap::Subcommand;
use hyper::Method;
use serde_json::json;

/// People of a community.
#[derive(Subcommand, Debug)]
pub(crate) enum PersonCommand {
    /// List people
    List {
        /// Id of the community
        community: String,
        #[command(flatten)]
        part: Part,
    },
    /// Show a person
    Show { community: String, person: String },
    /// Revoke a person's tokens and close their connections
    Revoke {
        /// Id of the community
        community: String,
        /// Id of the person
        person: String,
        /// Only the token with this `jti` [default: all that were issued until now]
        #[arg(long)]
        token_id: Option<String>,
    },
    /// Write all data of a person to standard output, as one JSON record per line
    Export { community: String, person: String },
    /// Erase a person: their messages become tombstones without a sender
    Erase {
        /// Id of the community
        community: String,
        /// Id of the person
        person: String,
        /// Confirm the erasure
        #[arg(long, required = true)]
        yes: bool,
    },
}

impl Commanded for PersonCommand {
    fn request(&self) -> Result<ApiRequest, OperatorError> {
        let one = |method, community: &str, person: &str, form| {
            ApiRequest::new(method, &["communities", community, "people", person], form)
        };
        Ok(match self {
            Self::List { community, part } => {
                let form = Form::Rows(&["id", "name", "role", "guest", "seen"]);
                part.of(ApiRequest::new(Method::GET, &["communities", community, "people"], form))
            }
            Self::Show { community, person } => one(Method::GET, community, person, Form::Fields),
            Self::Revoke { community, person, token_id } => {
                let path = ["communities", community, "people", person, "revocations"];
                ApiRequest::new(Method::POST, &path, Form::Fields).body(json!({ "token_id": token_id }))
            }
            Self::Export { community, person } => ApiRequest::new(
                Method::GET,
                &["communities", community, "people", person, "export"],
                Form::Lines,
            ),
            Self::Erase { community, person, yes: _ } => one(Method::DELETE, community, person, Form::Fields),
        })
    }
}
