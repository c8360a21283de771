//! Revoked tokens: checked in memory, and kept by the store so that they stay revoked after a restart.

use crate::messenger::Messenger;
use chat::limits::{PAGE_MAX, REVOCATIONS_MAX};
use chat::verbs::{Revocations, Revoke};
use chat::{By, CommunityId, Failure, Moment, PersonId, Refusal, StoreError, StoreErrorKind};
use identity::{Community, Revocation, RevocationsFull, Revoked, UnixSeconds};

impl Messenger {
    /// Revokes tokens of a person, and closes the connections that rely on them: at once here, and durably when the
    /// answer is there. Returns how many connections were closed.
    ///
    /// # Errors
    /// [`Refusal::LimitReached`]: nothing is revoked then. If the store is in trouble, the tokens are revoked only
    /// until this process ends; the call should be repeated.
    pub async fn revoke(
        &self,
        community: &CommunityId,
        person: &PersonId,
        what: Revoked,
    ) -> Result<usize, Failure> {
        // Loads what was revoked before, so that the limit is the same here and in the store.
        self.directory(community).await?;
        let name = Community::new(community.as_str());
        let revocation = Revocation { community: name, subject: person.to_string(), what };
        let closed = self.close_revoked(&revocation).map_err(|full| match full {
            RevocationsFull::Community => {
                Refusal::LimitReached { limit: "revocations_max", max: REVOCATIONS_MAX as u64 }.into()
            }
            RevocationsFull::Server => no_room(),
        })?;
        let ends = Moment::from_millis(self.inner.entrance.ends(&revocation).0.saturating_mul(1_000));
        let (token, until_s) = match revocation.what {
            Revoked::TokenId(token) => (Some(token), super::seconds().0),
            Revoked::IssuedUntil(until) => (None, until.0),
        };
        self.ask(community, By::Service, Revoke { person: person.clone(), token, until_s, ends }).await?;
        Ok(closed)
    }

    /// Loads what was revoked in a community, also by earlier processes. No token of it is checked before that.
    pub(crate) async fn recall_revocations(&self, community: &CommunityId) -> Result<(), Failure> {
        let (name, now, mut after) = (Community::new(community.as_str()), super::seconds(), None);
        loop {
            let page = self.ask(community, By::Service, Revocations { after, limit: PAGE_MAX }).await?;
            for row in page.rows.into_iter().filter(|row| row.ends.millis() / 1_000 > now.0) {
                let what = match row.token {
                    Some(token) => Revoked::TokenId(token),
                    None => Revoked::IssuedUntil(UnixSeconds(row.until_s)),
                };
                let revocation =
                    Revocation { community: name.clone(), subject: row.person.to_string(), what };
                // If not all revocations can be remembered, nobody is admitted.
                self.close_revoked(&revocation).map_err(|_| no_room())?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn close_revoked(&self, revocation: &Revocation) -> Result<usize, RevocationsFull> {
        let ended = self.inner.entrance.revoke(revocation)?;
        for (socket, code) in &ended {
            self.inner.out.close(socket, *code);
        }
        Ok(ended.len())
    }
}

fn no_room() -> Failure {
    StoreError::new(StoreErrorKind::Busy, "no more token revocations can be stored").into()
}
