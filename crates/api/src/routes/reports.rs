//! Reports of messages.

use super::paths::{AfterIn, AtMessage};
use crate::caller::Callers;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::{Found, Made};
use crate::request_context::{RequestContext, cursor};
use crate::shapes::ids::{self, limit_or_default};
use crate::shapes::{Page, Report, Scope};
use axum::http::Method;
use chat::ReportId;
use chat::verbs::{ReportMessage, Reports, Settle};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let moderators = Callers::keys_and_people(Scope::Moderate);
    Group {
        name: "Reports",
        about: "Reports of messages to moderators.",
        operations: vec![
            operation(
                Method::POST,
                "/communities/{community}/conversations/{conversation}/messages/{seq}/reports",
                "report_message",
                "Report a message",
            )
            .by(Callers::keys_and_people(Scope::Send))
            .about("If a person reports the same message again, the response is their first report; moderators see \
                 only one.")
            .runs(report),
            operation(
                Method::GET,
                "/communities/{community}/reports",
                "list_reports",
                "List open reports, oldest first",
            )
            .by(moderators)
            .runs(list),
            operation(
                Method::PUT,
                "/communities/{community}/reports/{report}/settlement",
                "settle_report",
                "Settle a report",
            )
            .by(moderators)
            .about("A report that is already settled stays as it is.")
            .runs(settle),
        ],
    }
}

/// The reason for a report.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reason {
    /// The reason, shown to moderators; up to 1,000 bytes.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    reason: String,
}

async fn report(
    context: RequestContext,
    input: Input<AtMessage, Nothing, Json<Reason>>,
) -> Result<Made<Report>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    let seq = input.path.seq.seq();
    let made = context.ask(ReportMessage { conversation, seq, reason: input.body.0.reason }).await?;
    Ok(Made(made.report.into()))
}

async fn list(
    context: RequestContext,
    input: Input<Nothing, AfterIn>,
) -> Result<Found<Page<Report>>, Problem> {
    let AfterIn { conversation, after, limit } = input.query;
    let after = cursor("after", after.as_deref(), ReportId::parse)?;
    let conversation = context.find_if_named(conversation.as_ref()).await?;
    let listed = context.ask(Reports { conversation, after, limit: limit_or_default(limit) }).await?;
    Ok(Found(Page::of(listed, Report::from, |id| id.to_string())))
}

#[derive(Deserialize, JsonSchema)]
struct AtReport {
    /// The report's id.
    #[schemars(with = "ids::Made")]
    report: ReportId,
}

/// How a report is settled.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settlement {
    /// The outcome; up to 1,000 bytes.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    note: String,
}

async fn settle(
    context: RequestContext,
    input: Input<AtReport, Nothing, Json<Settlement>>,
) -> Result<Found<Report>, Problem> {
    let settled = context.ask(Settle { report: input.path.report, note: input.body.0.note }).await?;
    Ok(Found(settled.into()))
}
