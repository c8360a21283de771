//! Paging of lists.

use super::super::api_request::ApiRequest;
use clap::Args;

/// A part of a list.
#[derive(Args, Debug)]
pub(crate) struct Part {
    /// Continue after this cursor, which the previous page has shown
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Maximum number of rows
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=200))]
    limit: u16,
}

impl Part {
    pub(super) fn of(&self, request: ApiRequest) -> ApiRequest {
        let request = request.query("limit", &self.limit.to_string());
        match &self.after {
            Some(after) => request.query("after", after),
            None => request,
        }
    }
}
