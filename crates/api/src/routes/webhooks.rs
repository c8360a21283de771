//! Webhook endpoints of a community.

use crate::caller::Callers;
use crate::entropy;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::purpose::{self, Purpose};
use crate::reply::{Done, Found, Made};
use crate::request_context::RequestContext;
use crate::shapes::{DeadLetter, List, NewWebhook, Webhook, WebhookEvent, ids};
use axum::http::Method;
use chat::verbs::{CreateKey, DeadLetters, Keys};
use chat::{By, KeyId};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let (all, one) = ("/communities/{community}/webhooks", "/communities/{community}/webhooks/{webhook}");
    Group {
        name: "Webhooks",
        about: "Requests that report events to a community's own site. They are signed as Standard Webhooks \
             specifies, sent in order to each endpoint, and repeated until the response is 2xx. People need the \
             community-wide role of owner.",
        operations: vec![
            operation(Method::GET, all, "list_webhooks", "List endpoints").by(Callers::OWNERS).runs(list),
            operation(Method::POST, all, "create_webhook", "Create an endpoint")
                .by(Callers::OWNERS)
                .about(
                    "The secret that signs requests is returned only in this response, and again only for the same \
                     request with the same `Idempotency-Key`.",
                )
                .tells_a_secret()
                .runs(create),
            operation(Method::DELETE, one, "delete_webhook", "Delete an endpoint")
                .by(Callers::OWNERS)
                .about("Webhooks that wait for it are dropped, and so are its dead letters.")
                .runs(delete),
            operation(
                Method::GET,
                "/communities/{community}/webhooks/{webhook}/dead-letters",
                "list_dead_letters",
                "List dead letters, oldest first",
            )
            .by(Callers::OWNERS)
            .runs(dead_letters),
        ],
    }
}

async fn list(context: RequestContext, _: Input) -> Result<Found<List<Webhook>>, Problem> {
    let keys = context.ask(Keys).await?;
    let rows = keys.into_iter().filter_map(|key| Webhook::of(key, false)).collect();
    Ok(Found(List { rows }))
}

async fn create(
    context: RequestContext,
    input: Input<Nothing, Nothing, Json<NewWebhook>>,
) -> Result<Made<Webhook>, Problem> {
    let NewWebhook { name, url, mut events } = input.body.0;
    purpose::target(&url).map_err(Problem::field)?;
    if events.is_empty() {
        events = WebhookEvent::ALL.to_vec();
    }
    let purpose = Purpose::Webhook { url, events, secret: entropy::signing_secret()? };
    let made = context.ask(CreateKey { name, purpose: purpose.to_json(), hash: Vec::new() }).await?;
    Webhook::of(made, true).map(Made).ok_or_else(Problem::not_found)
}

#[derive(Deserialize, JsonSchema)]
struct AtWebhook {
    /// The endpoint's id.
    #[schemars(with = "ids::Made")]
    webhook: KeyId,
}

async fn delete(context: RequestContext, input: Input<AtWebhook>) -> Result<Done, Problem> {
    let key = find(&context, input.path.webhook).await?;
    context.revoke_key(key).await?;
    Ok(Done)
}

async fn dead_letters(
    context: RequestContext,
    input: Input<AtWebhook>,
) -> Result<Found<List<DeadLetter>>, Problem> {
    let key = find(&context, input.path.webhook).await?;
    // An owner may see them like a key, as the endpoint was just found for them.
    let letters = context.ask_as(By::Service, DeadLetters { endpoint: key }).await?;
    Ok(Found(List { rows: letters.into_iter().filter_map(DeadLetter::of).collect() }))
}

/// A key that is not a webhook's does not exist here.
async fn find(context: &RequestContext, webhook: KeyId) -> Result<KeyId, Problem> {
    let keys = context.ask(Keys).await?;
    let is_one = keys.into_iter().any(|key| key.id == webhook && Webhook::of(key, false).is_some());
    if is_one { Ok(webhook) } else { Err(Problem::not_found()) }
}
