//! `throng stats`.

use super::super::api_request::{ApiRequest, Form};
use super::super::{Commanded, OperatorError};
use clap::Args;
use hyper::Method;

/// Numbers of the server, or of a community.
#[derive(Args, Debug)]
pub(crate) struct StatsCommand {
    /// The community [default: the whole server]
    community: Option<String>,
}

impl Commanded for StatsCommand {
    fn request(&self) -> Result<ApiRequest, OperatorError> {
        Ok(match &self.community {
            Some(community) => {
                ApiRequest::new(Method::GET, &["communities", community, "stats"], Form::Fields)
            }
            None => ApiRequest::new(Method::GET, &["stats"], Form::Fields),
        })
    }
}
