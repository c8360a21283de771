//! `throng webhook`.

use super::super::api_request::{ApiRequest, Form};
use super::super::{Commanded, OperatorError};
use clap::Subcommand;
use hyper::Method;
use serde_json::json;

/// Where communities are told what happens.
#[derive(Subcommand, Debug)]
pub(crate) enum WebhookCommand {
    /// List endpoints
    List { community: String },
    /// Create an endpoint; the secret that signs requests is shown only once
    Create {
        /// Id of the community
        community: String,
        /// A name for it
        #[arg(long)]
        name: String,
        /// The URL that receives events; begins with https://
        #[arg(long)]
        url: String,
        /// The events that it receives, such as message.sent [default: all]
        #[arg(long, value_delimiter = ',')]
        events: Vec<String>,
    },
    /// Delete an endpoint
    Delete { community: String, webhook: String },
    /// List webhooks whose delivery was given up
    DeadLetters { community: String, webhook: String },
}

impl Commanded for WebhookCommand {
    fn request(&self) -> Result<ApiRequest, OperatorError> {
        Ok(match self {
            Self::List { community } => {
                let form = Form::Rows(&["id", "name", "url", "events"]);
                ApiRequest::new(Method::GET, &["communities", community, "webhooks"], form)
            }
            Self::Create { community, name, url, events } => {
                let note = "this secret signs requests (Standard Webhooks); it is not shown again";
                let form = Form::Once { field: "secret", note };
                ApiRequest::new(Method::POST, &["communities", community, "webhooks"], form)
                    .body(json!({ "name": name, "url": url, "events": events }))
            }
            Self::Delete { community, webhook } => {
                let form = Form::Done("removed".to_owned());
                ApiRequest::new(Method::DELETE, &["communities", community, "webhooks", webhook], form)
            }
            Self::DeadLetters { community, webhook } => {
                let form = Form::Rows(&["id", "attempts", "why", "at", "body"]);
                ApiRequest::new(
                    Method::GET,
                    &["communities", community, "webhooks", webhook, "dead-letters"],
                    form,
                )
            }
        })
    }
}
