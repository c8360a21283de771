//! The caller of a request, according to its credentials, and which operations they may call.

use crate::problem::{Code, Problem};
use crate::shapes::Scope;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use chat::PersonId;
use identity::{Scopes, ServerKey, Token};
use messenger::AllowedRooms;

/// The header with which a key acts as a person, within what that person may do.
pub(crate) const ACTING_HEADER: &str = "throng-person";

/// Who calls.
#[derive(Clone, Debug)]
pub(crate) enum Caller {
    /// The operator of the server.
    Operator,
    /// A program of the community's site, with a key.
    Key {
        /// The key's prefix, which is not secret.
        prefix: String,
        /// The key's scopes.
        scopes: Scopes,
    },
    /// A person with a token of their own.
    Person {
        /// The person.
        id: PersonId,
        /// The rooms that their token is valid for.
        rooms: AllowedRooms,
    },
    /// A caller without credentials.
    Anonymous,
}

/// Who may call an operation. The operator may call all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Callers {
    /// Keys with this scope.
    pub(crate) scope: Option<Scope>,
    /// People, within what they may do.
    pub(crate) people: bool,
    /// Callers without credentials.
    pub(crate) strangers: bool,
}

impl Callers {
    /// The operator only.
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

    /// Keys with that scope, people, callers without credentials, and the operator.
    pub(crate) const fn everybody(scope: Scope) -> Self {
        Self { scope: Some(scope), people: true, strangers: true }
    }

    /// Checks that a caller is among them.
    ///
    /// # Errors
    /// [`Code::ScopeMissing`], [`Code::CallerRefused`].
    pub(crate) fn admit(self, caller: &Caller) -> Result<(), Problem> {
        match (caller, self.scope) {
            (Caller::Operator, _) => Ok(()),
            (Caller::Key { scopes, .. }, Some(scope)) if scopes.contains(scope.meant()) => Ok(()),
            (Caller::Key { .. }, Some(scope)) => {
                let name = scope.meant().name();
                Err(Problem::new(
                    Code::ScopeMissing,
                    format!("this operation needs a key with the scope `{name}`"),
                ))
            }
            (Caller::Key { .. }, None) => {
                Err(Problem::new(Code::CallerRefused, "this operation is not available to server keys"))
            }
            (Caller::Person { .. }, _) if self.people => Ok(()),
            (Caller::Anonymous, _) if self.strangers => Ok(()),
            (Caller::Anonymous, _) => Err(Problem::credentials_missing()),
            (Caller::Person { .. }, _) => {
                Err(Problem::new(Code::CallerRefused, "this operation needs a server key"))
            }
        }
    }
}

/// The credentials of a request.
pub(crate) enum Credentials {
    /// A server key.
    Key(ServerKey),
    /// A person's token.
    Token(Token),
}

impl Credentials {
    /// Reads the header `Authorization` (RFC 6750, section 2.1; RFC 9110, section 11.1, for the scheme's case).
    ///
    /// # Errors
    /// [`Code::CredentialsMissing`], and [`Code::KeyInvalid`] for what starts like a key but is not one.
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

/// Returns the person that a key wants to act as.
///
/// # Errors
/// The header is not a valid person id.
pub(crate) fn acting(headers: &HeaderMap) -> Result<Option<PersonId>, Problem> {
    let Some(value) = headers.get(ACTING_HEADER) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default();
    PersonId::parse(text).map(Some).map_err(|problem| Problem::field(problem.at(ACTING_HEADER)))
}
