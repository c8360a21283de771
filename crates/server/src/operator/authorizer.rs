//! The commands for a community's authorizer: its own site, which is asked about permissions.

use super::api_request::{ApiRequest, Form};
use super::{Commanded, OperatorError};
use clap::{Subcommand, ValueEnum};
use hyper::Method;
use serde_json::json;

/// Whether a community's own site is asked.
#[derive(Subcommand, Debug)]
pub(crate) enum AuthorizerCommand {
    /// Show the authorizer and its statistics
    Show { community: String },
    /// Set the authorizer; the secret that signs requests is shown only the first time
    Set {
        /// Id of the community
        community: String,
        /// The URL that is asked; begins with https://
        #[arg(long)]
        url: String,
        /// The actions that the site is asked about
        #[arg(long, value_enum, value_delimiter = ',', required = true)]
        actions: Vec<AskedAction>,
        /// What applies if the site does not answer
        #[arg(long, value_enum, default_value_t = Unanswered::Refuse)]
        unanswered: Unanswered,
        /// Timeout of a request in milliseconds
        #[arg(long, default_value_t = 3_000, value_parser = clap::value_parser!(u16).range(100..=10_000))]
        timeout_ms: u16,
    },
    /// Remove the authorizer
    Remove { community: String },
    /// Clear the cached decisions about a person
    Forget { community: String, person: String },
}

/// What a site is asked about.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AskedAction {
    /// Connecting
    Connect,
    /// Joining a room or group
    Join,
    /// Sending, editing and reacting to messages
    Send,
}

/// What counts when a site does not answer.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Unanswered {
    /// Refuse the action
    Refuse,
    /// Allow the action
    Allow,
}

impl AskedAction {
    const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Join => "join",
            Self::Send => "send",
        }
    }
}

impl Unanswered {
    const fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Allow => "allow",
        }
    }
}

impl Commanded for AuthorizerCommand {
    fn request(&self) -> Result<ApiRequest, OperatorError> {
        let one = |method, community: &str, form| {
            ApiRequest::new(method, &["communities", community, "authorizer"], form)
        };
        Ok(match self {
            Self::Show { community } => one(Method::GET, community, Form::Fields),
            Self::Set { community, url, actions, unanswered, timeout_ms } => {
                let actions: Vec<&str> = actions.iter().map(|action| action.name()).collect();
                one(Method::PUT, community, Form::Fields).body(json!({
                    "url": url,
                    "actions": actions,
                    "unanswered": unanswered.name(),
                    "timeout_ms": timeout_ms,
                }))
            }
            Self::Remove { community } => one(Method::DELETE, community, Form::Done("removed".to_owned())),
            Self::Forget { community, person } => {
                let path = ["communities", community, "people", person, "permissions"];
                ApiRequest::new(Method::DELETE, &path, Form::Done("forgotten".to_owned()))
            }
        })
    }
}
