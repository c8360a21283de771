//! Configures whether a community's own site is asked for permission.

use super::paths::AtPerson;
use crate::caller::Callers;
use crate::entropy;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::purpose::{self, Purpose};
use crate::reply::{Done, Found};
use crate::request_context::{RequestContext, invalid};
use crate::shapes::{Authorizer, NewAuthorizer, Scope};
use axum::http::Method;
use chat::KeyId;
use chat::verbs::{CreateKey, Keys};
use messenger::AuthorizerKey;
use std::ops::RangeInclusive;

/// The timeout of a site, in milliseconds.
const TIMEOUT_MS: RangeInclusive<u16> = 100..=10_000;
const TIMEOUT_DEFAULT_MS: u16 = 3_000;
/// Its name among the community's keys.
const NAME: &str = "authorizer";

pub(super) fn group() -> Group {
    let one = "/communities/{community}/authorizer";
    Group {
        name: "Authorizer",
        about: "The community's own site can decide whether a person may connect, join or send. Requests to it are \
             signed as Standard Webhooks specifies. People need the community-wide role of owner.",
        operations: vec![
            operation(Method::GET, one, "read_authorizer", "Get the authorizer")
                .by(Callers::OWNERS)
                .runs(read),
            operation(Method::PUT, one, "put_authorizer", "Set the authorizer")
                .by(Callers::OWNERS)
                .about(
                    "The secret that signs requests is returned only once, in the response that creates the \
                     authorizer. It stays the same until the authorizer is deleted.",
                )
                .runs(put),
            operation(Method::DELETE, one, "delete_authorizer", "Delete the authorizer")
                .by(Callers::OWNERS)
                .runs(delete),
            operation(
                Method::DELETE,
                "/communities/{community}/people/{person}/permissions",
                "forget_permissions",
                "Clear the cached decisions about a person",
            )
            .by(Callers::keys(Scope::ManagePeople))
            .about("The site is asked again, even if its earlier decisions have not expired.")
            .runs(forget),
        ],
    }
}

/// Returns those that are not revoked, the newest last, which counts.
async fn stored(context: &RequestContext) -> Result<Vec<(KeyId, AuthorizerKey)>, Problem> {
    let keys = context.ask(Keys).await?;
    let standing = keys.iter().filter(|key| key.revoked.is_none());
    let asked = standing.filter_map(|key| match Purpose::of(key)? {
        Purpose::Authorizer(authorizer) => Some((key.id, authorizer)),
        Purpose::Server { .. } | Purpose::Token(_) | Purpose::Jwks(_) | Purpose::Webhook { .. } => None,
    });
    Ok(asked.collect())
}

async fn read(context: RequestContext, _: Input) -> Result<Found<Authorizer>, Problem> {
    let (_, key) = stored(&context).await?.pop().ok_or_else(Problem::not_found)?;
    let counts = context.shared.messenger.asked_so_far(context.community()?).await?;
    Ok(Found(Authorizer::of(key, counts)))
}

async fn put(
    context: RequestContext,
    input: Input<Nothing, Nothing, Json<NewAuthorizer>>,
) -> Result<Found<Authorizer>, Problem> {
    let NewAuthorizer { url, actions, unanswered, timeout_ms } = input.body.0;
    purpose::target(&url).map_err(Problem::field)?;
    if actions.is_empty() {
        return Err(invalid("actions", "length", "must contain at least one action"));
    }
    let timeout_ms = timeout_ms.unwrap_or(TIMEOUT_DEFAULT_MS);
    if !TIMEOUT_MS.contains(&timeout_ms) {
        let message = format!("must be from {} to {} milliseconds", TIMEOUT_MS.start(), TIMEOUT_MS.end());
        return Err(invalid("timeout_ms", "range", message));
    }
    let before = stored(&context).await?;
    let known = before.last().map(|(_, key)| key.secret.clone());
    let minted = if known.is_none() { Some(entropy::signing_secret()?) } else { None };
    let secret = known.or_else(|| minted.clone()).unwrap_or_default();
    let actions = actions.into_iter().map(messenger::AskedAction::from).collect();
    let key =
        AuthorizerKey { url, secret, actions, unanswered: unanswered.into(), timeout_ms: timeout_ms.into() };
    let purpose = Purpose::Authorizer(key.clone()).to_json();
    context.ask(CreateKey { name: NAME.to_owned(), purpose, hash: Vec::new() }).await?;
    revoke(&context, before).await?;
    let shown = Authorizer::of(key, None);
    Ok(Found(match minted {
        Some(secret) => shown.with_secret(secret),
        None => shown,
    }))
}

async fn delete(context: RequestContext, _: Input) -> Result<Done, Problem> {
    let stored = stored(&context).await?;
    if stored.is_empty() {
        return Err(Problem::not_found());
    }
    revoke(&context, stored).await?;
    Ok(Done)
}

async fn revoke(context: &RequestContext, keys: Vec<(KeyId, AuthorizerKey)>) -> Result<(), Problem> {
    for (key, _) in keys {
        context.revoke_key(key).await?;
    }
    Ok(())
}

async fn forget(context: RequestContext, input: Input<AtPerson>) -> Result<Done, Problem> {
    context.shared.messenger.forget_permissions(context.community()?, &input.path.person).await?;
    Ok(Done)
}
