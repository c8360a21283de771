//! The context of an operation: the caller, the community, and access to the messenger.

use crate::Shared;
use crate::caller::Caller;
use crate::entropy;
use crate::problem::Problem;
use crate::shapes::ids::Reference;
use chat::verbs::{Erased, FindRoom, ReadConversation, RevokeKey};
use chat::{
    Asked, By, Call, CommunityId, ConversationId, Entropy, Failure, FieldProblem, KeyId, Moment, PersonId,
    Verb,
};
use messenger::{AllowedRooms, MessagePermit, News};
use std::sync::Arc;

/// The context of one request.
#[derive(Clone)]
pub(crate) struct RequestContext {
    pub(crate) shared: Arc<Shared>,
    pub(crate) caller: Caller,
    /// The person that a key or the operator acts as.
    pub(crate) acting: Option<PersonId>,
    /// The community in the path; operations without one are the operator's.
    pub(crate) community: Option<CommunityId>,
    pub(crate) now: Moment,
}

impl RequestContext {
    /// Returns the path's community.
    ///
    /// # Errors
    /// The path has none: a mistake in the table, reported as `not_found`.
    pub(crate) fn community(&self) -> Result<&CommunityId, Problem> {
        self.community.as_ref().ok_or_else(Problem::not_found)
    }

    /// Returns on whose behalf the request is made.
    pub(crate) fn by(&self) -> By {
        match (&self.caller, &self.acting) {
            (Caller::Person { id, .. }, _) => By::Person(id.clone()),
            // An id that no rule knows.
            (Caller::Anonymous, _) => By::Person(PersonId::erased()),
            (Caller::Operator | Caller::Key { .. }, Some(person)) => By::Person(person.clone()),
            (Caller::Operator | Caller::Key { .. }, None) => By::Service,
        }
    }

    /// Acts on behalf of the person named in the path, if the caller is that person, a key or the operator. To anybody
    /// else the person does not exist.
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) fn by_person(&self, person: &PersonId) -> Result<By, Problem> {
        match &self.caller {
            Caller::Person { id, .. } if id != person => Err(Problem::not_found()),
            Caller::Anonymous => Err(Problem::not_found()),
            Caller::Person { .. } | Caller::Operator | Caller::Key { .. } => Ok(By::Person(person.clone())),
        }
    }

    /// Returns whether a key or the operator calls without acting as a person.
    pub(crate) fn is_service(&self) -> bool {
        self.by() == By::Service
    }

    /// Runs a command on behalf of the caller.
    ///
    /// # Errors
    /// As documented for the command.
    pub(crate) async fn ask<C>(&self, command: C) -> Result<<Asked<C> as Verb>::Answer, Problem>
    where
        Asked<C>: News,
    {
        self.ask_as(self.by(), command).await
    }

    /// Runs a command on behalf of `by`.
    ///
    /// # Errors
    /// As documented for the command.
    pub(crate) async fn ask_as<C>(&self, by: By, command: C) -> Result<<Asked<C> as Verb>::Answer, Problem>
    where
        Asked<C>: News,
    {
        let call = self.call(by)?;
        Ok(self.shared.messenger.perform(call.ask(command)).await?)
    }

    /// Revokes a key of any kind: it is invalid when this returns, and a webhook endpoint gets no further event,
    /// because the keyring and the webhooks are notified with the commit.
    ///
    /// # Errors
    /// As [`RevokeKey`].
    pub(crate) async fn revoke_key(&self, key: KeyId) -> Result<(), Problem> {
        self.ask(RevokeKey { key }).await.map(drop)
    }

    /// Asks the community's own site whether the caller may join a conversation. The site is not asked about keys,
    /// which are its own.
    ///
    /// # Errors
    /// `refused_by_site`, `site_unavailable`.
    pub(crate) async fn permit_join(&self, conversation: ConversationId) -> Result<(), Problem> {
        match &self.caller {
            Caller::Person { id, .. } => {
                Ok(self.shared.messenger.permit_join(self.community()?, id, conversation).await?)
            }
            Caller::Operator | Caller::Key { .. } => Ok(()),
            Caller::Anonymous => Err(Problem::not_found()),
        }
    }

    /// Like [`RequestContext::permit_join`], for sending; also takes a message from the per-minute limits of the community and of
    /// the person, also if a key acts as them, to be passed to [`RequestContext::ask_spending`]. The operator is not limited.
    ///
    /// # Errors
    /// `rate_limited`, `refused_by_site`, `site_unavailable`.
    pub(crate) async fn permit_send(&self, conversation: ConversationId) -> Result<MessagePermit, Problem> {
        let by = self.by();
        let is_free = by == By::Service && matches!(self.caller, Caller::Operator);
        let spent = if is_free {
            MessagePermit::nothing()
        } else {
            self.shared.messenger.spend_message(self.community()?, &by).await??
        };
        match &self.caller {
            Caller::Person { id, .. } => {
                self.shared.messenger.permit_send(self.community()?, id, conversation).await?;
            }
            Caller::Operator | Caller::Key { .. } => {}
            Caller::Anonymous => return Err(Problem::not_found()),
        }
        Ok(spent)
    }

    /// Runs a command on behalf of the caller with the message that [`RequestContext::permit_send`] took.
    ///
    /// # Errors
    /// As documented for the command.
    pub(crate) async fn ask_spending<C>(
        &self,
        spent: MessagePermit,
        command: C,
    ) -> Result<<Asked<C> as Verb>::Answer, Problem>
    where
        Asked<C>: News,
    {
        let call = self.call(self.by())?;
        Ok(self.shared.messenger.perform_spending(call.ask(command), spent).await?)
    }

    /// Creates a call with fresh entropy.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn call(&self, by: By) -> Result<Call, Problem> {
        let entropy = Entropy(entropy::bytes()?);
        Ok(Call { community: self.community()?.clone(), by, now: self.now, entropy })
    }

    /// Returns the id of a conversation in the path or the query, if the caller may see it.
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) async fn find(&self, reference: &Reference) -> Result<ConversationId, Problem> {
        self.find_as(self.by(), reference).await
    }

    /// Like [`RequestContext::find`], on behalf of `by`.
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) async fn find_as(&self, by: By, reference: &Reference) -> Result<ConversationId, Problem> {
        if let (Reference::Id(id), true) = (reference, self.rooms().are_all()) {
            return Ok(*id);
        }
        let found = match reference {
            Reference::Id(id) => self.ask_as(by, ReadConversation { conversation: *id }).await?.0,
            Reference::Room(name) => self.ask_as(by, FindRoom { name: name.clone() }).await?,
        };
        if self.rooms().allow(&found) { Ok(found.id) } else { Err(Problem::not_found()) }
    }

    /// The conversation that the path names, for an erasure: after its first step, [`RequestContext::find`] no longer finds it.
    ///
    /// # Errors
    /// `not_found`, if the caller's token is for other rooms only.
    pub(crate) async fn find_to_erase(&self, reference: &Reference) -> Result<Erased, Problem> {
        match reference {
            Reference::Room(name) if self.rooms().have(name) => Ok(Erased::Room(name.clone())),
            Reference::Room(_) => Err(Problem::not_found()),
            Reference::Id(_) => self.find(reference).await.map(Erased::Id),
        }
    }

    /// Like [`RequestContext::find`], if the query names a conversation.
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) async fn find_if_named(
        &self,
        reference: Option<&Reference>,
    ) -> Result<Option<ConversationId>, Problem> {
        match reference {
            Some(reference) => self.find(reference).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the rooms that the caller's credentials are valid for.
    pub(crate) fn rooms(&self) -> &AllowedRooms {
        match &self.caller {
            Caller::Person { rooms, .. } => rooms,
            Caller::Operator | Caller::Key { .. } | Caller::Anonymous => &AllowedRooms::ALL,
        }
    }
}

/// Parses a cursor from an earlier answer's `next`.
///
/// # Errors
/// It is not a valid cursor.
pub(crate) fn cursor<T>(
    field: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T, chat::Problem>,
) -> Result<Option<T>, Problem> {
    let Some(text) = text else {
        return Ok(None);
    };
    parse(text).map(Some).map_err(|problem| Problem::field(problem.at(field)))
}

/// Creates the problem of a field that breaks a rule which its type cannot express.
pub(crate) fn invalid(field: &str, code: &'static str, message: impl Into<String>) -> Problem {
    Problem::from(Failure::Invalid(vec![FieldProblem {
        field: field.to_owned(),
        code,
        message: message.into(),
    }]))
}
