//! Tokens of guests.

use crate::caller::{Caller, Callers};
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::{Code, Problem};
use crate::reply::Made;
use crate::request_context::{RequestContext, invalid};
use crate::shapes::{Scope, ids};
use axum::http::HeaderMap;
use axum::http::Method;
use chat::{Failure, Thing};
use identity::{GuestRefusal, Token};
use messenger::{Credentials, Rejection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) fn group() -> Group {
    Group {
        name: "Guests",
        about: "People without an account, in communities that admit them.",
        operations: vec![
            operation(
                Method::POST,
                "/communities/{community}/guests",
                "welcome_guest",
                "Get or renew a guest's token",
            )
            .by(Callers::everybody(Scope::ManagePeople))
            .about(
                "With a guest's token, returns a newer token of the same guest, who keeps their name; without one, \
                 creates a new guest. Use the token to connect, or to call this API as that guest. Nothing is \
                 stored about a guest until then: repeating the request issues another token.",
            )
            .stores_nothing()
            .runs(welcome),
        ],
    }
}

/// A new guest.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewGuest {
    /// Their name; absent: the server chooses one from their id.
    #[serde(default)]
    #[schemars(length(max = 200))]
    name: Option<String>,
}

/// A guest's token.
#[derive(Serialize, JsonSchema)]
struct GuestToken {
    /// The token.
    token: String,
    /// Their id.
    #[schemars(with = "ids::Person")]
    person: String,
    /// Their name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// When it expires, as seconds since 1970.
    expires_s: u64,
}

async fn welcome(
    context: RequestContext,
    input: Input<Nothing, Nothing, Json<NewGuest>>,
) -> Result<Made<GuestToken>, Problem> {
    let shown = match &context.caller {
        Caller::Person { .. } => shown(&input.headers),
        Caller::Operator | Caller::Key { .. } | Caller::Anonymous => None,
    };
    let credentials =
        Credentials { community: context.community()?.clone(), token: shown, name: input.body.0.name };
    let (token, verified) = context.shared.messenger.welcome_guest(&credentials).await.map_err(refused)?;
    Ok(Made(GuestToken {
        token: token.expose().to_owned(),
        person: verified.claims.subject,
        name: verified.claims.name,
        expires_s: verified.claims.expires.0,
    }))
}

/// Returns the token, which was verified already.
fn shown(headers: &HeaderMap) -> Option<Token> {
    match crate::caller::Credentials::of(headers) {
        Ok(crate::caller::Credentials::Token(token)) => Some(token),
        Ok(crate::caller::Credentials::Key(_)) | Err(_) => None,
    }
}

fn refused(rejection: Rejection) -> Problem {
    match rejection {
        Rejection::Guest(GuestRefusal::Name(_)) => {
            invalid("name", "form", "must have 1 to 200 bytes and no control characters")
        }
        Rejection::Guest(GuestRefusal::NotAGuest) => Problem::new(
            Code::CallerRefused,
            "this token is not a guest's: get a new one from the site that \
                 signed it",
        ),
        // Whether such a community exists is not revealed to callers without valid credentials there.
        Rejection::Guest(GuestRefusal::Off) | Rejection::Failure(Failure::Absent(Thing::Community)) => {
            Problem::new(Code::GuestsRefused, "this community does not admit guests")
        }
        Rejection::Token(_)
        | Rejection::Full { .. }
        | Rejection::Site { .. }
        | Rejection::SiteAway
        | Rejection::Failure(_) => rejection.into(),
    }
}
