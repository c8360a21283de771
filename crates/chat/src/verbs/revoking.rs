//! Storage of revoked tokens, so that revocations outlive a restart. Verifying tokens happens elsewhere.

use super::listing::{Listed, with_one_more};
use super::moderating::{Entry, log_entry};
use crate::access;
use crate::failure::Refusal;
use crate::ids::PersonId;
use crate::limits::{REVOCATIONS_MAX, TOKEN_NAME_BYTES_MAX};
use crate::moderation::AuditAction;
use crate::moment::Moment;
use crate::problem::Problem;
use crate::revocation::Revocation;
use crate::rows::{Rows, Target};
use crate::{Call, Command, Failure};

/// Revokes one of a person's tokens, or all up to a given second, replacing an earlier such revocation. For keys. At
/// the limit, only revocations of tokens that have expired make room: dropping others would undo them. One that replaces
/// another needs none.
#[derive(Clone, Debug)]
pub struct Revoke {
    /// Whose tokens.
    pub person: PersonId,
    /// The token's id (`jti`); `None`: all issued up to `until_s`.
    pub token: Option<String>,
    /// See [`Revocation::until_s`].
    pub until_s: u64,
    /// See [`Revocation::ends`].
    pub ends: Moment,
}

impl Command for Revoke {
    type Answer = Revocation;
    const WRITES: bool = true;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Revocation, Failure> {
        access::community(rows, call)?;
        access::key_or_self(call, None)?;
        if self.token.as_ref().is_some_and(|token| !(1..=TOKEN_NAME_BYTES_MAX).contains(&token.len())) {
            return Err(Problem::length(1, TOKEN_NAME_BYTES_MAX, "bytes").at("token").into());
        }
        rows.remove(&call.community, &Target::Revocations { ended_before: call.now })?;
        let revocation = Revocation {
            person: self.person.clone(),
            token: self.token.clone(),
            until_s: self.until_s,
            at: call.now,
            ends: self.ends,
        };
        let (token, max) = (revocation.token_or_all(), REVOCATIONS_MAX as u64);
        if rows.revocations_count(&call.community)? >= max
            && rows.revocation(&call.community, &self.person, token)?.is_none()
        {
            return Err(Refusal::LimitReached { limit: "revocations_max", max }.into());
        }
        rows.put(&call.community, &revocation.clone().into())?;
        let entry = Entry::of(AuditAction::RevokeTokens, None);
        log_entry(rows, call, Entry { person: Some(self.person.clone()), ..entry })?;
        Ok(revocation)
    }
}

/// Lists revocations, including those that have ended, by person and token. For keys.
#[derive(Clone, Debug)]
pub struct Revocations {
    /// The last one of the previous page: its person, and its token's id or the empty string.
    pub after: Option<(PersonId, String)>,
    /// Maximum number of rows.
    pub limit: usize,
}

impl Command for Revocations {
    type Answer = Listed<Revocation, (PersonId, String)>;
    const WRITES: bool = false;

    fn run(&self, call: &Call, rows: &mut dyn Rows) -> Result<Self::Answer, Failure> {
        access::community(rows, call)?;
        access::key_or_self(call, None)?;
        let after = self.after.as_ref().map(|(person, token)| (person, token.as_str()));
        let found = rows.revocations(&call.community, after, with_one_more(self.limit))?;
        let position = |row: &Revocation| (row.person.clone(), row.token_or_all().to_owned());
        Ok(Listed::of(found, self.limit, position))
    }
}
