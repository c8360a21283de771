//! `throng stats`.

use super::super::errand::{Errand, Form};
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
    fn errand(&self) -> Result<Errand, OperatorError> {
        Ok(match &self.community {
            Some(community) => Errand::new(Method::GET, &["communities", community, "stats"], Form::Fields),
            None => Errand::new(Method::GET, &["stats"], Form::Fields),
        })
    }
}
