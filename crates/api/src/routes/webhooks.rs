//! Where a community's site is told what happens.

use crate::caller::Callers;
use crate::desk::Desk;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::{Code, Problem};
use crate::purpose::{self, Purpose};
use crate::reply::{Done, Found, Made};
use crate::shapes::{DeadLetter, List, NewWebhook, Webhook, WebhookEvent, ids};
use axum::http::Method;
use chat::KeyId;
use chat::verbs::{CreateKey, Keys, RevokeKey};
use identity::SigningSecret;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let (all, one) = ("/communities/{community}/webhooks", "/communities/{community}/webhooks/{webhook}");
    Group {
        name: "Webhooks",
        about: "Requests to a community's own site, signed as Standard Webhooks says, in order for each endpoint, repeated until \
                they are answered 2xx. People need the role of an owner in the whole community.",
        operations: vec![
            operation(Method::GET, all, "list_webhooks", "List endpoints").by(Callers::OWNERS).runs(list),
            operation(Method::POST, all, "create_webhook", "Make an endpoint")
                .by(Callers::OWNERS)
                .about("The secret that requests are signed with is in this answer and never told again.")
                .runs(create),
            operation(Method::DELETE, one, "delete_webhook", "Remove an endpoint")
                .by(Callers::OWNERS)
                .runs(delete),
            operation(
                Method::GET,
                "/communities/{community}/webhooks/{webhook}/dead-letters",
                "list_dead_letters",
                "See what was given up, the oldest first",
            )
            .by(Callers::OWNERS)
            .runs(dead_letters),
        ],
    }
}

async fn list(desk: Desk, _: Input) -> Result<Found<List<Webhook>>, Problem> {
    let keys = desk.ask(Keys).await?;
    let rows = keys.into_iter().filter_map(|key| Webhook::of(key, false)).collect();
    Ok(Found(List { rows }))
}

async fn create(
    desk: Desk,
    input: Input<Nothing, Nothing, Json<NewWebhook>>,
) -> Result<Made<Webhook>, Problem> {
    let NewWebhook { name, url, mut events } = input.body.0;
    purpose::target(&url).map_err(Problem::field)?;
    if events.is_empty() {
        events = WebhookEvent::ALL.to_vec();
    }
    let mut entropy = [0; 32];
    getrandom::fill(&mut entropy)
        .map_err(|_| Problem::new(Code::Internal, "the machine has no random numbers"))?;
    let secret = SigningSecret::mint(entropy).expose();
    let purpose = Purpose::Webhook { url, events, secret };
    let made = desk.ask(CreateKey { name, purpose: purpose.to_json(), hash: Vec::new() }).await?;
    desk.shared.keyring.forget(desk.community()?);
    desk.shared.webhooks.look_again(desk.community()?);
    Webhook::of(made, true).map(Made).ok_or_else(Problem::not_found)
}

#[derive(Deserialize, JsonSchema)]
struct AtWebhook {
    /// Which.
    #[schemars(with = "ids::Made")]
    webhook: KeyId,
}

async fn delete(desk: Desk, input: Input<AtWebhook>) -> Result<Done, Problem> {
    let key = find(&desk, input.path.webhook).await?;
    desk.ask(RevokeKey { key }).await?;
    desk.shared.keyring.forget(desk.community()?);
    Ok(Done)
}

async fn dead_letters(desk: Desk, input: Input<AtWebhook>) -> Result<Found<List<DeadLetter>>, Problem> {
    let key = find(&desk, input.path.webhook).await?;
    let letters = desk.shared.webhooks.dead_letters(key);
    Ok(Found(List::of(letters, DeadLetter::from)))
}

/// A key that is none of a webhook is none here.
async fn find(desk: &Desk, webhook: KeyId) -> Result<KeyId, Problem> {
    let keys = desk.ask(Keys).await?;
    let is_one = keys.into_iter().any(|key| key.id == webhook && Webhook::of(key, false).is_some());
    if is_one { Ok(webhook) } else { Err(Problem::not_found()) }
}
