//! Keys of a community: for programs that use the API, and for people's tokens.

use crate::caller::Callers;
use crate::entropy;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::purpose::{self, Purpose};
use crate::reply::{Done, Found, Made};
use crate::request_context::{RequestContext, invalid};
use crate::shapes::{Key, List, NewKey, NewKeyKind, Scope, ids};
use axum::http::Method;
use chat::verbs::{CreateKey, Keys};
use chat::{FieldProblem, KeyId};
use identity::StoredKey;
use messenger::{PublishedKeys, TokenKey};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let (all, one) = ("/communities/{community}/keys", "/communities/{community}/keys/{key}");
    Group {
        name: "Keys",
        about: "Server keys, with which programs use this API, and the keys that verify people's tokens. People \
             need the community-wide role of owner.",
        operations: vec![
            operation(Method::GET, all, "list_keys", "List keys, including revoked ones")
                .by(Callers::OWNERS)
                .runs(list),
            operation(Method::POST, all, "create_key", "Create a key")
                .by(Callers::OWNERS)
                .about(
                    "The text of a server key is returned only in this response, and again only for the same \
                     request with the same `Idempotency-Key`.",
                )
                .tells_a_secret()
                .runs(create),
            operation(Method::DELETE, one, "revoke_key", "Revoke a key permanently")
                .by(Callers::OWNERS)
                .about("Takes effect immediately on this server, and within five seconds on others.")
                .runs(revoke),
        ],
    }
}

async fn list(context: RequestContext, _: Input) -> Result<Found<List<Key>>, Problem> {
    Ok(Found(List::of(context.ask(Keys).await?, Key::from)))
}

async fn create(
    context: RequestContext,
    input: Input<Nothing, Nothing, Json<NewKey>>,
) -> Result<Made<Key>, Problem> {
    let NewKey { name, purpose } = input.body.0;
    let (purpose, hash, text) = match purpose {
        NewKeyKind::Server { scopes, not_after_s } => server(scopes, not_after_s)?,
        NewKeyKind::Token { algorithm, kid, material, not_after_s } => {
            let key = TokenKey { algorithm, kid, material, not_after_s };
            key.verifying().map_err(of_purpose)?;
            (Purpose::Token(key), Vec::new(), None)
        }
        NewKeyKind::Jwks { url } => {
            purpose::target(&url).map_err(of_purpose)?;
            (Purpose::Jwks(PublishedKeys { url }), Vec::new(), None)
        }
    };
    let made = context.ask(CreateKey { name, purpose: purpose.to_json(), hash }).await?;
    let shown = Key::from(made);
    Ok(Made(match text {
        Some(text) => shown.with_text(&text),
        None => shown,
    }))
}

/// Creates the problem of a field of the request's `purpose`.
fn of_purpose(problem: FieldProblem) -> Problem {
    Problem::field(FieldProblem { field: format!("purpose.{}", problem.field), ..problem })
}

/// Creates a server key: its purpose, its stored hash, and its text.
fn server(
    scopes: Vec<Scope>,
    not_after_s: Option<u64>,
) -> Result<(Purpose, Vec<u8>, Option<String>), Problem> {
    if scopes.is_empty() {
        return Err(invalid("purpose.scopes", "length", "must contain at least one scope"));
    }
    let meant = scopes.iter().map(|scope| scope.meant()).collect();
    let minted = StoredKey::mint(None, meant, entropy::bytes()?);
    let purpose = Purpose::Server { prefix: minted.stored.prefix, scopes, not_after_s };
    Ok((purpose, minted.stored.hash.to_vec(), Some(minted.key.expose().to_owned())))
}

#[derive(Deserialize, JsonSchema)]
struct AtKey {
    /// The key's id.
    #[schemars(with = "ids::Made")]
    key: KeyId,
}

async fn revoke(context: RequestContext, input: Input<AtKey>) -> Result<Done, Problem> {
    context.revoke_key(input.path.key).await?;
    Ok(Done)
}
