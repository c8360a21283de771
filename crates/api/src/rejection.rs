//! Maps refusals of admission to HTTP.

use crate::problem::{Code, Problem};
use chat::{Failure, Thing};
use messenger::Rejection;

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Token(refusal) => token(refusal.code()),
            // In a community that does not exist no token is valid, so that nobody learns which exist.
            Rejection::Guest(_)
            | Rejection::Full { .. }
            | Rejection::Failure(Failure::Absent(Thing::Community)) => token(identity::Code::TokenInvalid),
            Rejection::Site { reason } => {
                let reason = reason.unwrap_or_else(|| "the community's site refused it".to_owned());
                Self::new(Code::RefusedBySite, reason)
            }
            Rejection::SiteAway => Self::site_away(),
            Rejection::Failure(failure) => failure.into(),
        }
    }
}

fn token(code: identity::Code) -> Problem {
    let (code, detail) = match code {
        identity::Code::TokenExpired => (Code::TokenExpired, "the token has expired: get a new one"),
        identity::Code::TokenInvalid => (Code::TokenInvalid, "the token is not valid in this community"),
        identity::Code::TokenRevoked => (Code::TokenRevoked, "the token was revoked: sign in again"),
        identity::Code::TokenUnverifiable => {
            (Code::TokenUnverifiable, "the token cannot be verified now: try again with the same token")
        }
    };
    Problem::new(code, detail)
}
