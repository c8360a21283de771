//! Who calls, as the credentials of a request say it, and for which operations that is enough.

use crate::problem::{Code, Problem};
use crate::shapes::Scope;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use chat::{PersonId, RoomName};
use identity::{Scopes, ServerKey, Token};

/// By which a key acts as a person, within what that person may do.
pub(crate) const ACTING_HEADER: &str = "throng-person";

/// Who calls.
#[derive(Clone, Debug)]
pub(crate) enum Caller {
    /// Who runs the server.
    Operator,
    /// A program of the community's site, with a key.
    Key {
        /// The key's prefix, which is no secret.
        prefix: String,
        /// What it is for.
        scopes: Scopes,
    },
    /// Somebody with a token of their own.
    Person {
        /// Who.
        id: PersonId,
        /// The only rooms that their token is for, if it says so.
        rooms: Option<Vec<RoomName>>,
    },
    /// Somebody without credentials.
    Stranger,
}

/// Who may call an operation. The operator may call each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Callers {
    /// Keys with this scope.
    pub(crate) scope: Option<Scope>,
    /// People, within what they may do.
    pub(crate) people: bool,
    /// Who shows nothing.
    pub(crate) strangers: bool,
}

impl Callers {
    /// The operator alone.
    pub(crate) const OPERATOR: Self = Self { scope: None, people: false, strangers: false };
    /// People, and the operator.
    pub(crate) const OWNERS: Self = Self { scope: None, people: true, strangers: false };

    /// Keys with that scope, and the operator.
    pub(crate) const fn keys(scope: Scope) -> Self {
        Self { scope: Some(scope), people: false, strangers: false }
    }

    /// Keys with that scope, people, and the operator.
    pub(crate) const fn keys_and_people(scope: Scope) -> Self {
        Self { scope: Some(scope), people: true, strangers: false }
    }

    /// Keys with that scope, people, who shows nothing, and the operator.
    pub(crate) const fn everybody(scope: Scope) -> Self {
        Self { scope: Some(scope), people: true, strangers: true }
    }

    /// Lets pass who may call.
    ///
    /// # Errors
    /// [`Code::ScopeMissing`], [`Code::CallerRefused`].
    pub(crate) fn admit(self, caller: &Caller) -> Result<(), Problem> {
        match (caller, self.scope) {
            (Caller::Operator, _) => Ok(()),
            (Caller::Key { scopes, .. }, Some(scope)) if scopes.contains(scope.meant()) => Ok(()),
            (Caller::Key { .. }, Some(scope)) => {
                let name = scope.meant().name();
                Err(Problem::new(Code::ScopeMissing, format!("this needs a key with the scope `{name}`")))
            }
            (Caller::Key { .. }, None) => {
                Err(Problem::new(Code::CallerRefused, "this is not for server keys"))
            }
            (Caller::Person { .. }, _) if self.people => Ok(()),
            (Caller::Stranger, _) if self.strangers => Ok(()),
            (Caller::Stranger, _) => Err(Problem::credentials_missing()),
            (Caller::Person { .. }, _) => Err(Problem::new(Code::CallerRefused, "this needs a server key")),
        }
    }
}

/// What a request shows.
pub(crate) enum Credentials {
    /// A server key.
    Key(ServerKey),
    /// A person's token.
    Token(Token),
}

impl Credentials {
    /// From the header `Authorization` (RFC 6750, section 2.1; RFC 9110, section 11.1, for the scheme's case).
    ///
    /// # Errors
    /// [`Code::CredentialsMissing`], and [`Code::KeyInvalid`] for what begins like a key and is none.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
            let (scheme, shown) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| shown.trim())
        });
        let shown = bearer.filter(|shown| !shown.is_empty()).ok_or_else(Problem::credentials_missing)?;
        if !shown.starts_with("thr_") {
            return Ok(Self::Token(Token::new(shown)));
        }
        ServerKey::parse(shown)
            .map(Self::Key)
            .map_err(|error| Problem::new(Code::KeyInvalid, error.to_string()))
    }
}

/// The person as whom a key wants to act.
///
/// # Errors
/// No person can be called so.
pub(crate) fn acting(headers: &HeaderMap) -> Result<Option<PersonId>, Problem> {
    let Some(value) = headers.get(ACTING_HEADER) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default();
    PersonId::parse(text).map(Some).map_err(|problem| Problem::field(problem.at(ACTING_HEADER)))
}
